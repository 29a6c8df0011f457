"""The page in Chromium: nothing in it runs, it fits a phone, is dark where that is preferred, and prints."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.command import fsstream

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

HOSTILE = [
    "<script>ran=1</script>",
    "</svg><img/src=x/onerror=ran=1>",
    "x" * 400,
    "\u202eright",
    "<!--",
    "]]>",
]
ASK = """<script>
const body = getComputedStyle(document.body);
document.title = JSON.stringify({
  ran: typeof ran, images: document.images.length, scripts: document.scripts.length,
  width: document.documentElement.scrollWidth, window: innerWidth, paper: body.backgroundColor,
  charts: document.querySelectorAll("figure").length,
});
</script>"""
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 24, 28)"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs over words that would like to be more than text."""
    folder = tmp_path_factory.mktemp("browser")
    rows = "".join(
        f"{'<b>spam</b>' if i % 2 else 'ham'} {' '.join(HOSTILE[i % 2 :: 2])} {HOSTILE[i % 5]}\n"
        for i in range(400)
    )
    for number, algo in enumerate(("mission", "b-arda")):
        done = fsstream(
            "select", "--algo", algo, "--k", "6", "--format", "tokens", "-q",
            "--summary", str(folder / f"run{number}"), stdin=rows.encode(),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = fsstream("report", *(str(folder / f"run{n}") for n in (0, 1)), "-o", str(folder / "page.html"))
    assert done.returncode == 0, done.stderr
    return folder / "page.html"


def chromium(folder: Path, *arguments: str) -> bytes:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
    done = subprocess.run([*command, *arguments], capture_output=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("preferred", "paper"), [(1, LIGHT), (0, DARK)], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_is_read_as_it_was_meant(
    width: int, preferred: int, paper: str, page: Path, tmp_path: Path
) -> None:
    asking = tmp_path / "page.html"
    asking.write_text(page.read_text(encoding="utf-8").replace("</body>", f"{ASK}</body>"), encoding="utf-8")
    seen = chromium(
        tmp_path, f"--window-size={width},900", f"--blink-settings=preferredColorScheme={preferred}",
        "--dump-dom", f"file://{asking}",
    )  # fmt: skip
    title = re.search(rb"<title>(.*?)</title>", seen)
    assert title is not None
    found: dict[str, Any] = json.loads(unescape(title[1].decode()))
    assert (found["ran"], found["images"], found["scripts"]) == ("undefined", 0, 1)  # the one that asks
    assert found["width"] <= found["window"]
    assert found["paper"] == paper
    assert found["charts"] >= 4


def test_it_prints(page: Path, tmp_path: Path) -> None:
    chromium(tmp_path, f"--print-to-pdf={tmp_path}/page.pdf", f"file://{page}")
    printed = (tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF-")
    if shutil.which("pdftotext"):
        text = subprocess.run(
            ["pdftotext", f"{tmp_path}/page.pdf", "-"], capture_output=True, check=True
        ).stdout
        assert b"Selected features" in text
        assert b"<b>spam</b>" in text
        assert b'algo = "b-arda"' in text  # what a screen shows on demand only
