"""Install pip into the Python that runs this, with nothing but the standard library.

For machines that have no pip at all. Enters: the package index that is configured for pip (PIP_INDEX_URL,
else pip's configuration files); without one there is nothing to fetch from. Leaves: pip's newest wheel for
this Python, its SHA-256 checked against the index, installed by running it from the file.
"""

import configparser
import hashlib
import html
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

LINK = re.compile(r"<a\s([^>]*?)>", re.IGNORECASE)
WHEEL = re.compile(r'href="([^"#]*/pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)#sha256=([0-9a-f]{64})"')
NEEDS = re.compile(r'data-requires-python="\s*>=\s*(\d+)\.(\d+)')


def index_url():
    """Where pip would look first."""
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    home = Path.home()
    files = [
        "/etc/pip.conf",
        home / ".pip/pip.conf",
        home / ".config/pip/pip.conf",
        os.environ.get("PIP_CONFIG_FILE", ""),
    ]
    settings = configparser.ConfigParser(interpolation=None)
    settings.read([str(file) for file in files])
    url = settings.get("global", "index-url", fallback="")
    if not url:
        raise ValueError("no package index is configured")
    return url


def newest_wheel(page, base):
    """(address, SHA-256) of the newest pip that runs here; fails when the page offers none."""
    offers = []
    for match in LINK.finditer(page):
        attributes = html.unescape(match.group(1))
        wheel = WHEEL.search(attributes)
        needs = NEEDS.search(attributes)
        if not wheel or "data-yanked" in attributes:
            continue
        if needs and tuple(map(int, needs.groups())) > sys.version_info[:2]:
            continue
        version = tuple(map(int, wheel.group(2).split(".")))
        offers.append((version, urllib.parse.urljoin(base, wheel.group(1)), wheel.group(3)))
    if not offers:
        raise ValueError("no wheel of pip is offered there")
    return max(offers)[1:]


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read()


def main():
    try:
        page = index_url().rstrip("/") + "/pip/"
        address, sha256 = newest_wheel(fetch(page).decode(), page)
        wheel = fetch(address)
        if hashlib.sha256(wheel).hexdigest() != sha256:
            raise ValueError("the wheel's SHA-256 is not what the index says")
    except (OSError, ValueError) as error:
        sys.exit(
            f"fsstream: error: this Python has no pip, and none could be fetched ({error}): "
            "install one (Debian, Ubuntu: apt install python3-venv; Fedora: dnf install python3-pip)"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, address.rsplit("/", 1)[-1])
        file.write_bytes(wheel)
        sys.exit(
            subprocess.call([sys.executable, str(file / "pip"), "install", "--quiet", "--no-deps", str(file)])
        )


if __name__ == "__main__":
    main()
