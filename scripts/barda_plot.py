"""A line chart with error bars as plain SVG, x in equal steps."""

from __future__ import annotations

from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 60, 40, 160, 50
COLOURS = ("#1b6ca8", "#c0392b", "#7f8c8d", "#8e44ad", "#16a085", "#d68910", "#2c3e50", "#c2185b")


def line_chart(title: str, xs: list[int], curves: dict[str, list[tuple[float, float]]]) -> str:
    """One polyline a curve; each point is (mean, deviation), drawn as a bar where it is not 0."""
    low = min(mean - sd for curve in curves.values() for mean, sd in curve)
    high = max(mean + sd for curve in curves.values() for mean, sd in curve)
    room = (high - low) or 1.0

    def x(i: int) -> float:
        return LEFT + i * (WIDTH - LEFT - RIGHT) / max(1, len(xs) - 1)

    def y(value: float) -> float:
        return TOP + (high - value) / room * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for step in range(5):
        value = low + room * step / 4
        parts.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    every = max(1, len(xs) // 8)
    for i in range(0, len(xs), every):
        parts.append(f'<text x="{x(i):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{xs[i]}</text>')
    for curve, colour in zip(curves.values(), COLOURS, strict=False):
        points = " ".join(f"{x(i):.1f},{y(mean):.1f}" for i, (mean, _) in enumerate(curve))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for i, (mean, sd) in enumerate(curve):
            if sd:
                parts.append(
                    f'<path d="M{x(i):.1f} {y(mean - sd):.1f}V{y(mean + sd):.1f}" stroke="{colour}"/>'
                )
    for i, (name, colour) in enumerate(zip(curves, COLOURS, strict=False)):
        top = TOP + 14 + 18 * i
        parts.append(f'<text x="{WIDTH - RIGHT + 12}" y="{top}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>\n"])
