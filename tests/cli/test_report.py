"""`fsstream report`: one page, whatever the names are."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from fsstream.report.charts import Line, line_chart
from fsstream.report.page import make_page
from fsstream.report.runs import load_runs
from fsstream.report.text import escaped
from tests.cli.command import ROOT, fsstream

if TYPE_CHECKING:
    from pathlib import Path

VOID = {"meta", "line", "rect", "polyline"}
HOSTILE = b"<script>alert(1)</script> \"><img/src=x\xff\xe2\x80\xaeabc onload='x"


class Page(HTMLParser):
    """Elements that were opened, each of which has to be closed; and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A summary, a model and a selection of rows with hostile names and some bad ones."""
    folder = tmp_path_factory.mktemp("report")
    rows = b"".join(b"a %s w%d\n<b>b</b> foo\nbad \0\nc classes\n" % (HOSTILE, i % 2) for i in range(400))
    paths = {name: str(folder / name) for name in ("summary", "model", "output")}
    flags = [word for name, path in paths.items() for word in (f"--{name}", path)]
    done = fsstream(
        "select", "--algo", "b-arda", "--format", "tokens", "--k", "5", "--loss", "logistic",
        "--on-bad-line", "skip", "-q", *flags, stdin=rows,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(paths.values())


def test_the_summary_holds_what_the_page_shows(files: list[str]) -> None:
    with open(files[0], "rb") as file:
        summary = json.load(file)
    assert [point["rows"] for point in summary["course"]] == [1200]
    assert summary["course"][0]["memory"] > 1e6
    assert len(summary["input"]["first_bad_records"]) == 5
    assert summary["input"]["first_bad_records"][0].startswith("<stdin>:3:5: expected text")
    with open(files[2], "rb") as file:
        assert summary["largest"] == [json.loads(line) for line in file]


def test_a_page_is_whole_and_harmless(files: list[str], tmp_path: Path) -> None:
    done = fsstream("report", *files, "--title", "<x>&", "-o", str(tmp_path / "page.html"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.tags & {"script", "img", "b", "x", "link", "iframe", "object"}
    assert not {name for name in page.attributes if name.startswith("on")} | {"src", "href"} & page.attributes
    assert "http" not in text
    shown = "".join(page.text)
    assert '"><img/src=x\\xff\\u202eabc' in shown
    assert "<script>alert(1)</script>" in shown
    assert "expected text" in shown
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text
    assert fsstream("report", *files, "--title", "<x>&").stdout == text.encode()


def test_the_selection_of_a_long_run_settles(tmp_path: Path) -> None:
    summary = tmp_path / "summary.json"
    options = ("--k", "10", "--format", "tokens", "--passes", "3", "-q", "--summary", str(summary))
    data = str(ROOT / "data" / "spam_sample.tsv.gz")
    done = fsstream("select", *options, data)
    assert done.returncode == 0
    assert done.stdout == fsstream("select", *options[:-2], data).stdout
    points = json.loads(summary.read_bytes())["course"]
    assert points[-1]["rows"] == 4500
    overlaps = [point["overlap"] for point in points]
    assert overlaps[0] is None
    assert all(0 <= overlap <= 1 for overlap in overlaps[1:])
    page = make_page(load_runs([str(summary)]), "one")
    assert page.count("<polyline") >= 3
    assert "Agreement" not in page


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"", 3, b"nothing in it"),
        (b'{"fsstream":"1"}', 3, b"expected a summary"),
        (b"PK\x03\x04", 5, b"archive"),
    ],
)
def test_what_is_no_run(content: bytes, status: int, message: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    done = fsstream("report", str(tmp_path / "file"))
    assert (done.returncode, done.stdout) == (status, b"")
    assert message in done.stderr


def test_text_that_cannot_be_seen_is_spelled() -> None:
    assert escaped("a<b>\x00\u202e\udcff\n'") == "a&lt;b&gt;\\x00\\u202e\\xff\\x0a&#x27;"


def test_charts_of_odd_numbers() -> None:
    def chart(*points: tuple[float, float]) -> str:
        return line_chart([Line("x", 0, list(points))], x_label="rows", show_y=str)

    assert chart() == ""
    assert chart((1, float("nan"))) == ""
    beside = line_chart([Line("x", 0, [(20, 1.0)])], x_label="rows", show_y=str, along=[10, 20])
    assert beside.count("<circle") == 1
    assert ">10</text>" in beside  # where another chart has its first point, this one has room for it
    for points in (((5, 5),), ((1, 0), (2, 0)), ((1, 1e-30), (1e9, 1e30)), ((0, 1), (7, 2))):
        drawn = chart(*points)
        assert drawn.count("<circle") == len(points)
        assert "nan" not in drawn
        assert "inf" not in drawn.replace("information", "")
