"""Line charts as SVG: thin lines, few ticks, colours by class so that light and dark each have theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fsstream.report.style import COLOURS
from fsstream.report.text import escaped
from fsstream.units import show_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 24, 12, 34
_TICKS = 5


@dataclass(frozen=True)
class Line:
    """A curve: its name, its colour by number, and its points."""

    name: str
    colour: int
    points: list[tuple[float, float]]


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    show_y: Callable[[float], str],
    log_x: bool = True,
    from_zero: bool = False,
    along: Sequence[float] = (),
) -> str:
    """Lines over rows, and over `along` at least; nothing when there is no point at all."""
    points = [point for line in lines for point in line.points if all(map(math.isfinite, point))]
    if not points:
        return ""
    xs, ys = [*(x for x, _ in points), *along], [y for _, y in points]
    across = _Scale(min(xs), max(xs), LEFT, WIDTH - RIGHT, log=log_x and min(xs) > 0, whole=True)
    low, high = (0.0 if from_zero else min(ys)), max(ys)
    up = _Scale(*_padded(low, high, from_zero=from_zero), HEIGHT - BOTTOM, TOP)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escaped(x_label)}">']
    for value in up.ticks():
        y = up(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escaped(show_y(value))}</text>'
        )
    for value in across.ticks():
        place = f'x="{across(value):.1f}" y="{HEIGHT - BOTTOM + 16}"'
        parts.append(f'<text {place} text-anchor="middle">{show_count(round(value))}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text class="axis" x="{middle}" y="{HEIGHT - 4}" text-anchor="middle">{escaped(x_label)}</text>'
    )
    parts += [_drawn(line, across, up, show_y) for line in lines]
    return "".join([*parts, "</svg>"])


def legend(names: Sequence[tuple[str, int]]) -> str:
    """Which colour is whose."""
    items = [f'<li><i class="c{colour % COLOURS}"></i>{escaped(name)}</li>' for name, colour in names]
    return f'<ul class="legend">{"".join(items)}</ul>'


def _drawn(line: Line, across: _Scale, up: _Scale, show_y: Callable[[float], str]) -> str:
    finite = [point for point in line.points if all(map(math.isfinite, point))]
    path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in finite)
    colour = f"c{line.colour % COLOURS}" + (" again" if line.colour >= COLOURS else "")
    dots = "".join(
        f'<circle class="{colour}" cx="{across(x):.1f}" cy="{up(y):.1f}" r="2.5">'
        f"<title>{escaped(line.name)}: {escaped(show_y(y))} at {show_count(x)}</title></circle>"
        for x, y in finite
    )
    return f'<polyline class="{colour}" points="{path}"/>{dots}'


class _Scale:
    """From numbers to places."""

    def __init__(
        self, low: float, high: float, start: float, end: float, *, log: bool = False, whole: bool = False
    ) -> None:
        self._log, self._whole = log, whole
        self._low, self._high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self._low == self._high:
            self._low, self._high = self._low - 0.5, self._high + 0.5
        self._start, self._end = start, end

    def __call__(self, value: float) -> float:
        number = math.log10(value) if self._log else value
        return self._start + (number - self._low) / (self._high - self._low) * (self._end - self._start)

    def ticks(self) -> list[float]:
        if self._log:
            whole = range(math.floor(self._low), math.ceil(self._high) + 1)
            fine = [factor * 10.0**power for power in whole for factor in (1, 2, 5)]
            inside = [tick for tick in fine if self._low - 1e-9 <= math.log10(tick) <= self._high + 1e-9]
            if len(inside) < 2:
                return [10**self._low, 10**self._high]
            if len(inside) <= _TICKS:
                return inside
            powers = [tick for tick in inside if math.log10(tick).is_integer()]
            return powers[:: math.ceil(len(powers) / _TICKS)]
        step = _round_step((self._high - self._low) / _TICKS)
        if self._whole:
            step = max(step, 1.0)
        first = math.ceil(self._low / step - 1e-9)
        return [count * step for count in range(first, math.floor(self._high / step + 1e-9) + 1)]


def _round_step(raw: float) -> float:
    """The next of 1, 2, 5, 10 times a power of ten."""
    power: float = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)


def _padded(low: float, high: float, *, from_zero: bool) -> tuple[float, float]:
    room = 0.05 * (high - low) or 0.05 * abs(high) or 0.5
    return (low if from_zero else low - room), high + room
