"""The page: what was run, the data seen, how it went, what was selected; runs side by side."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from fsstream import __version__
from fsstream.report.charts import Line, legend, line_chart
from fsstream.report.style import COLOURS, STYLE
from fsstream.report.text import escaped, name
from fsstream.units import show_count, show_size, show_time, show_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from fsstream.report.runs import Run

SHOWN = 50  # features of a class


def make_page(runs: Sequence[Run], title: str) -> str:
    """The whole page as HTML; the same bytes for the same runs."""
    sections = [
        _overview(runs), _curves(runs), _selections(runs), _overlaps(runs), _trouble(runs), _options(runs),
    ]  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escaped(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escaped(title)}</h1>"
        f'<p class="soft">{_counted(len(runs), "run")} · fsstream {__version__}</p>'
        + "\n".join(filter(None, sections))
        + "</body></html>\n"
    )


def _overview(runs: Sequence[Run]) -> str:
    """A row a fact, a column a run; facts that no run has are left out."""
    rows = []
    for label, fact in _FACTS.items():
        cells = [fact(run) for run in runs]
        if any(cells):
            filled = "".join(f"<td>{escaped(cell) if cell else '–'}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{escaped(label)}</th>{filled}</tr>')
    heads = "".join(f'<th scope="col">{escaped(run.name)}</th>' for run in runs)
    return (
        f'<h2>Runs</h2><div class="wide"><table><thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _fact(show: Callable[[Any], str], *path: str) -> Callable[[Run], str]:
    def fact(run: Run) -> str:
        value = run.fact(*path)
        return "" if value is None or value == [] else show(value)

    return fact


def _speed(run: Run) -> str:
    size, seconds = run.fact("input", "bytes"), run.fact("seconds")
    return f"{show_size(size / seconds)}/s" if size and seconds else ""


def _labels(labels: list[str]) -> str:
    if len(labels) == 2:
        return f"{labels[1]} (positive), {labels[0]} (negative)"
    return ", ".join(labels[:10]) + (f" and {len(labels) - 10} more" if len(labels) > 10 else "")


_FACTS: dict[str, Callable[[Run], str]] = {
    "backend": lambda run: str(run.options.get("algo", "")),
    "loss": lambda run: str(run.options.get("loss", "")),
    "files": _fact(lambda files: ", ".join(files[:5]) + (", …" if len(files) > 5 else ""), "input", "files"),
    "format": _fact(str, "input", "format"),
    "read": _fact(show_size, "input", "bytes"),
    "rows": _fact(show_count, "input", "rows"),
    "entries": _fact(show_count, "input", "entries"),
    "labels": _fact(_labels, "task", "labels"),
    "passes": _fact(str, "passes"),
    "selected": lambda run: show_count(run.fact("selected") or len(run.features)),
    "progressive loss": _fact("{:.4f}".format, "progressive_validation", "mean_loss"),
    "progressive accuracy": _fact("{:.4f}".format, "progressive_validation", "accuracy"),
    "validation loss": lambda run: _last(run, "loss"),
    "validation accuracy": lambda run: _last(run, "accuracy"),
    "validation AUC": lambda run: _last(run, "auc"),
    "bad records": _fact(lambda count: show_count(count) if count else "", "input", "bad_records"),
    "time": _fact(show_time, "seconds"),
    "speed": _speed,
    "memory": _fact(show_size, "peak_memory"),
}  # fmt: skip


def _last(run: Run, measure: str) -> str:
    points = run.series("validation")
    value = points[-1].get(measure) if points else None
    return "" if value is None else f"{value:.4f}"


def _curves(runs: Sequence[Run]) -> str:
    """Loss, validation, how the selection settled, memory and time; side by side."""
    percent, number = "{:.0%}".format, "{:.3g}".format
    charts = [
        _chart(runs, "Loss of rows before they are learned", "rows", number,
               lambda run: _points(run.series("progressive_validation", "curve"), "rows", "recent_loss")),
        _chart(runs, "Validation loss", "pass", number,
               lambda run: _points(run.series("validation"), "pass", "loss"), log_x=False),
        _chart(runs, "Selection: shared with the point before", "rows", percent,
               lambda run: _points(run.series("course"), "rows", "overlap"), from_zero=True,
               along=lambda run: [rows for rows, _ in _points(run.series("course"), "rows", "memory")]),
        _chart(runs, "Memory", "rows", show_size,
               lambda run: _points(run.series("course"), "rows", "memory"), from_zero=True),
        _chart(runs, "Speed, rows a second", "rows", show_count, lambda run: _speeds(run.series("course")),
               from_zero=True),
    ]  # fmt: skip
    shown = "".join(charts)
    if not shown:
        return ""
    keys = legend([(run.name, number) for number, run in enumerate(runs) if run.series("course")])
    return f'<h2>How it went</h2>{keys}<div class="charts">{shown}</div>'


def _chart(
    runs: Sequence[Run],
    title: str,
    x_label: str,
    show_y: Callable[[float], str],
    points: Callable[[Run], list[tuple[float, float]]],
    *,
    log_x: bool = True,
    from_zero: bool = False,
    along: Callable[[Run], list[float]] = lambda run: [],
) -> str:
    lines = [Line(run.name, number, points(run)) for number, run in enumerate(runs)]
    drawn = line_chart(
        lines,
        x_label=x_label,
        show_y=show_y,
        log_x=log_x,
        from_zero=from_zero,
        along=[x for run in runs for x in along(run)],
    )
    return f"<figure><figcaption>{escaped(title)}</figcaption>{drawn}</figure>" if drawn else ""


def _points(points: list[dict[str, Any]], x: str, y: str) -> list[tuple[float, float]]:
    found = [(point.get(x), point.get(y)) for point in points]
    return [(a, b) for a, b in found if isinstance(a, int | float) and isinstance(b, int | float)]


def _speeds(points: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Between points far enough apart to be timed."""
    speeds = []
    before, started = 0.0, 0.0
    for rows, seconds in _points(points, "rows", "seconds"):
        if rows > 1.25 * before and seconds > started:
            speeds.append((rows, (rows - before) / (seconds - started)))
            before, started = rows, seconds
    return speeds


def _selections(runs: Sequence[Run]) -> str:
    charts = "".join(chart for number, run in enumerate(runs) for chart in _bars(run, number, len(runs) > 1))
    return f'<h2>Selected features</h2><div class="charts">{charts}</div>' if charts else ""


def _bars(run: Run, colour: int, named: bool) -> Iterable[str]:
    """A chart a class: the weights from a common zero, largest first."""
    for label, records in groupby(run.features, key=lambda record: record.get("class")):
        group = list(records)
        shown = group[:SHOWN]
        weights = [float(record["weight"]) for record in shown]
        low, high = min(0.0, *weights), max(0.0, *weights)
        title = " · ".join(
            [*([run.name] if named else []), *([f"class {label}"] if label is not None else [])]
        )
        rows = "".join(
            f"{name(record['feature'])}{_bar(weight, low, high, colour)}<span>{show_weight(weight)}</span>"
            for record, weight in zip(shown, weights, strict=True)
        )
        more = len(group) - len(shown)
        rest = f'<p class="soft">and {show_count(more)} more</p>' if more else ""
        if not more and not run.complete:
            rest = f'<p class="soft">the largest {len(shown)}</p>'
        caption = f"<figcaption>{escaped(title)}</figcaption>" if title else ""
        yield f'<figure>{caption}<div class="features">{rows}</div>{rest}</figure>'


def _bar(weight: float, low: float, high: float, colour: int) -> str:
    span = high - low or 1.0
    zero, end = 100 * -low / span, 100 * (weight - low) / span
    x, width = min(zero, end), abs(end - zero)
    return (
        '<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="c{colour % COLOURS}" style="stroke:none" x="{x:.2f}" y="1" '
        f'width="{max(width, 0.3):.2f}" height="8"/>'
        f'<line x1="{zero:.2f}" x2="{zero:.2f}" y1="0" y2="10" stroke-width="0.3"/></svg>'
    )


def _overlaps(runs: Sequence[Run]) -> str:
    """How much two runs agree: features that both have, of those that either has."""
    if len(runs) < 2:
        return ""
    chosen = [run.chosen() for run in runs]
    heads = "".join(f'<th scope="col">{escaped(run.name)}</th>' for run in runs)
    rows = ""
    for run, mine in zip(runs, chosen, strict=True):
        shares = [len(mine & other) / (len(mine | other) or 1) for other in chosen]
        rows += (
            f'<tr><th scope="row">{escaped(run.name)}</th>{"".join(f"<td>{s:.0%}</td>" for s in shares)}</tr>'
        )
    partly = (
        "" if all(run.complete for run in runs) else " Of summaries the largest of each class are compared."
    )
    return (
        f"<h2>Agreement</h2><p>Features that two runs share, of those that either has.{partly}</p>"
        f'<div class="wide"><table><thead><tr><td></td>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _trouble(runs: Sequence[Run]) -> str:
    """Bad records, and what the runs noted."""
    items = []
    for run in runs:
        first = run.fact("input", "first_bad_records") or []
        notes = run.fact("notes") or []
        if first or notes:
            lines = "".join(f"<li><code>{escaped(line)}</code></li>" for line in [*first, *notes])
            items.append(f'<h3>{escaped(run.name)}</h3><ul class="bad">{lines}</ul>')
    return f"<h2>Bad records and notes</h2>{''.join(items)}" if items else ""


def _options(runs: Sequence[Run]) -> str:
    blocks = []
    for run in runs:
        if run.options:
            lines = "\n".join(
                f"{key} = {toml}" for key, value in sorted(run.options.items()) if (toml := _toml(value))
            )
            blocks.append(
                f"<details><summary>{escaped(run.name)}</summary><pre>{_lines(lines)}</pre></details>"
            )
    return f"<h2>Options</h2>{''.join(blocks)}" if blocks else ""


def _toml(value: Any) -> str:
    """As in a file for --config; nothing for what was not given."""
    if isinstance(value, dict):
        given = ", ".join(f"{key} = {toml}" for key, item in value.items() if (toml := _toml(item)))
        return f"{{{given}}}" if given else ""
    return "" if value in (None, [], ()) else json.dumps(value, ensure_ascii=False)


def _lines(text: str) -> str:
    return "\n".join(escaped(line) for line in text.split("\n"))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
