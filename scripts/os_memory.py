"""Memory of `os` while the number of features grows: `os_stream.py` through a pipe into the command."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from os_stream import SAMPLES, SIGNALS, write_targets

from fsstream.memory import peak_memory

if TYPE_CHECKING:
    import argparse

    from os_tables import Log

K, MEMORY = 50, "64MB"
SIZES = (10**6, 10**7, 10**8)
TABLE = f"Memory, {SAMPLES} samples"


def memory(given: argparse.Namespace, log: Log) -> None:
    """Peak resident memory for 10^6, 10^7 and 10^8 features, one scan."""
    print(f"\n{SAMPLES:,} samples, k = {K}, one scan of standard input, --memory {MEMORY}\n")
    print("| features | peak RSS MB | retained columns, bytes | planted found | CPU s a million |")
    print("|---|---|---|---|---|")
    for features in given.sizes or SIZES:
        if (TABLE, "os", features) not in log.rows:
            log.add(TABLE, "os", features, pass_by(features))
        rss, kept, found, seconds = log.rows[TABLE, "os", features]
        print(
            f"| {features:,} | {rss:.0f} | {kept:,.0f} | {found:.0f} of {SIGNALS} | "
            f"{seconds / features * 1e6:.2f} |",
            flush=True,
        )


def pass_by(features: int) -> list[float]:
    """MB at the peak, bytes of columns, planted features found, CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        targets, summary = Path(folder) / "targets", Path(folder) / "summary.json"
        output = Path(folder) / "output.jsonl"
        script = Path(__file__).parent / "os_stream.py"
        write_targets(targets)  # select reads them before the stream has begun
        stream = subprocess.Popen(
            [sys.executable, script, str(features), "--targets", targets], stdout=subprocess.PIPE
        )
        assert stream.stdout is not None
        select = [
            *(sys.executable, "-m", "fsstream", "select", "--algo", "os", "--k", str(K), "--passes", "1"),
            *("--format", "columns", "--targets", str(targets), "--loss", "squared", "--memory", MEMORY),
            *("--summary", str(summary), "--output", str(output), "--quiet"),
        ]
        selecting = subprocess.Popen(select, stdin=stream.stdout)
        stream.stdout.close()
        peak = 0
        while selecting.poll() is None:
            peak = max(peak, peak_memory(selecting.pid))
            time.sleep(0.5)
        if selecting.returncode or stream.wait():
            raise SystemExit("the run over the stream failed")
        found = sum('"signal' in line for line in output.read_text().splitlines()[:SIGNALS])
        facts = json.loads(summary.read_text())
    return [peak / 2**20, facts["backend"]["column_bytes"], found, facts["cpu_seconds"]]
