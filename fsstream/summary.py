"""The summary of a run, or a plan of one, for people: units, aligned, no scientific noise."""

from __future__ import annotations

from typing import Any

from fsstream.units import show_count, show_size, show_time


def show_summary(summary: dict[str, Any]) -> str:
    """Some lines of text."""
    data, task = summary["input"], summary["task"]
    seconds = max(summary["seconds"], 1e-9)
    rows = [
        (
            "read",
            f"{show_count(data['rows'])} rows, {show_count(data['entries'])} entries, "
            f"{show_size(data['bytes'])}",
        ),
        ("format", data["format"]),
        ("task", f"{task['kind']} with {task['loss']} loss{_labels(task['labels'])}"),
        ("passes", str(summary["passes"])),
        ("selected", f"{summary['selected']} features"),
    ]
    progressive = summary["progressive_validation"]
    if progressive:
        accuracy = progressive["accuracy"]
        correct = "" if accuracy is None else f", accuracy {accuracy:.4f}"
        rows.append(
            ("progressive", f"mean loss {progressive['mean_loss']:.4f}{correct} (before learning each row)")
        )
    if summary["validation"]:
        last = summary["validation"][-1]
        rows.append(("validation", f"loss {last['loss']:.4f} after pass {last['pass']} (--valid)"))
    if data["bad_records"]:
        rows.append(("bad records", f"{data['bad_records']} skipped"))
    if data["skipped_windows"]:
        rows.append(("skipped", f"{show_count(data['skipped_windows'])} k-mer windows with other letters"))
    rows.append(("time", f"{show_time(seconds)}, {show_size(data['bytes'] / seconds)}/s"))
    rows.append(("memory", f"{show_size(summary['peak_memory'])} at most"))
    return _lines(rows)


def show_plan(plan: dict[str, Any]) -> str:
    """Some lines of text."""
    rows = [("memory", show_size(plan["memory"]))]
    rows += [
        (f"  {what.partition(',')[0]}", show_size(size)) for what, size in plan["learner"].items() if size
    ]
    if plan["each_class"]:
        rows.append(("each class", show_size(plan["each_class"])))
    if plan["rows"] is not None:
        rows.append(("data", f"{show_count(plan['rows'])} rows, {show_count(plan['entries'])} entries"))
        rows.append(("passes", str(plan["passes"])))
        rows.append(("disk", show_size(plan["disk"])))
        rows.append(("time", show_time(plan["seconds"])))
        rows.append(("looked at", f"{100 * plan['looked_at']:.3g} % of the input"))
    if plan["note"]:
        rows.append(("note", plan["note"]))
    return _lines(rows)


def _lines(rows: list[tuple[str, str]]) -> str:
    width = max(12, *(len(name) for name, _ in rows))
    return "\n".join(f"fsstream: {name:<{width}} {value}" for name, value in rows)


def _labels(labels: tuple[str, ...]) -> str:
    if not labels:
        return ""
    if len(labels) == 2:
        return f" ({labels[1]!r} against {labels[0]!r})"
    return f" ({len(labels)} classes)"
