"""How far `fsstream plan` is from what runs take: every backend, on files given or made.

    scripts/check_plan.py [FILE...] [--k 100] [--algo NAME]...

Prints a line a run: predicted and measured peak of memory, their ratio, predicted and measured seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from fsstream.algorithms import BACKENDS, backend


def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "fsstream", *arguments], capture_output=True, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--k", default="100")
    parser.add_argument("--algo", action="append", choices=BACKENDS)
    arguments = parser.parse_args()
    for path in arguments.files:
        for name in arguments.algo or BACKENDS:
            check(name, path, arguments.k)


def check(name: str, path: str, k: str) -> None:
    options = ["--algo", name, "--quiet", path]
    if "k" in backend(name).uses:
        options += ["--k", k]
    planned = run("plan", *options)
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary"
        done = run("select", *options, "--summary", str(summary))
        if planned.returncode or done.returncode:
            print(f"{name:10} {Path(path).name}: {(planned.stderr or done.stderr).decode().splitlines()[:1]}")
            return
        measured = json.loads(summary.read_bytes())
    plan = json.loads(planned.stdout)
    ratio = plan["memory"] / measured["peak_memory"]
    print(
        f"{name:10} {Path(path).name:20} memory {plan['memory'] / 1e6:7.1f} of "
        f"{measured['peak_memory'] / 1e6:7.1f} MB {ratio:5.2f}   time {plan['seconds']:6.2f} of "
        f"{measured['seconds']:6.2f} s   passes {plan['passes']} of {measured['passes']}",
        flush=True,
    )


if __name__ == "__main__":
    main()
