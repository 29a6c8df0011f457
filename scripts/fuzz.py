"""Runs the libFuzzer targets of tests/fuzz: `make fuzz`, `make fuzz-long`.

    python scripts/fuzz.py --runs 5000                 # short, the same inputs each time
    python scripts/fuzz.py --seconds 600 --count       # adds what ran without a finding to counts.json
    python scripts/fuzz.py --quick --seconds 600 --count    # the parsers, fast: tests/fuzz/quick_main.cpp

In: tests/fuzz/corpus/TARGET, small inputs that are kept. With --count the inputs that reached something
new stay in build/fuzz/corpus/TARGET, and the next run goes on from there; a quick run changes inputs of both
folders, without sanitizers or coverage, and is counted by itself. A finding ends in exit 1, its input in
build/fuzz.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "fuzz"
BUILD = ROOT / "build" / "fuzz"
COUNTS = FOLDER / "counts.json"
LINES = ("libsvm", "pairs", "tokens", "vw", "columns", "jsonl", "seq")
TOGETHER = 32  # lines given at once by a quick run
PARSERS = (*LINES, "csv", "tsv", "fasta", "fastq")
TARGETS = (*PARSERS, "shapes", "spool")
# An execution frees less than a megabyte: a longer memory of what was freed only costs time, as stacks of
# every allocation do.
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=0:quarantine_size_mb=1:"
    "thread_local_quarantine_size_kb=64",
    "UBSAN_OPTIONS": "halt_on_error=1",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=0, help="for each target; 0: no limit")
    parser.add_argument("--runs", type=int, default=-1, help="for each target; -1: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", action="store_true", help="add to the counts file")
    parser.add_argument("--quick", action="store_true", help="many, without sanitizers")
    parser.add_argument("target", nargs="*", choices=[*TARGETS, []])
    given = parser.parse_args()
    if given.seconds <= 0 and given.runs < 0:
        parser.error("say --seconds or --runs")
    if not has_fuzzer():
        print("fuzz: skipped: it needs clang++ with libFuzzer (Debian, Ubuntu: apt install clang)")
        return 0
    build()
    for target in given.target or (PARSERS if given.quick else TARGETS):
        with tempfile.TemporaryDirectory() as new:
            reached = BUILD / "corpus" / target if given.count else Path(new)
            reached.mkdir(parents=True, exist_ok=True)
            start = run_quick if given.quick else run
            executions = start(target, given.seconds, given.runs, given.seed, reached)
        if executions is None:
            return 1
        in_all = add(f"{target}, quick" if given.quick else target, executions, given.count)
        print(f"{target}: {executions:,} executions without a finding, {in_all:,} in all", flush=True)
    return 0


def add(target: str, executions: int, keep: bool) -> int:
    """How many there were up to now; the counts file says so if wanted."""
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    counts[target] = counts.get(target, 0) + executions
    if keep:
        COUNTS.write_text(json.dumps(counts, indent=1, sort_keys=True) + "\n")
    return int(counts[target])


def has_fuzzer() -> bool:
    """Whether clang++ is there, and the runtime that some distributions package by itself."""
    if shutil.which("clang++") is None:
        return False
    source = 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }'
    probe = ["clang++", "-x", "c++", "-fsanitize=fuzzer,address,undefined", "-o", os.devnull, "-"]
    return subprocess.run(probe, input=source.encode(), capture_output=True, check=False).returncode == 0


def build() -> None:
    launcher = shutil.which("ccache") or ""
    subprocess.run(
        ["cmake", "-S", FOLDER, "-B", BUILD, "-G", "Ninja", "-DCMAKE_CXX_COMPILER=clang++",
         f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    subprocess.run(["cmake", "--build", BUILD], check=True, stdout=subprocess.DEVNULL)


def run(target: str, seconds: int, runs: int, seed: int, reached: Path) -> int | None:
    """How many inputs were tried; None when one was a finding. Those that are worth it go to `reached`."""
    done = subprocess.run(
        [named("fuzz", target), reached, FOLDER / "corpus" / target, f"-seed={seed}", f"-runs={runs}",
         f"-max_total_time={seconds}", "-max_len=256", "-entropic=0", "-print_funcs=0", "-timeout=60",
         "-print_final_stats=1", f"-artifact_prefix={BUILD}/{target}-"],
        capture_output=True, text=True, check=False, env={**os.environ, **SANITIZERS},
    )  # fmt: skip
    executions = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode != 0 or executions is None:
        print(f"{target}: a finding:\n{done.stderr[-6000:]}", file=sys.stderr)
        return None
    return int(executions[1])


def run_quick(target: str, seconds: int, runs: int, seed: int, reached: Path) -> int | None:
    """As `run`, without sanitizers, from the inputs that it kept and reached."""
    finding = BUILD / f"{target}-quick"
    together = str(TOGETHER if target in LINES else 1)  # a quote or header would reach into the next input
    done = subprocess.run(
        [named("quick", target), str(seconds), str(max(runs, 0)), str(seed), together, finding,
         FOLDER / "corpus" / target, reached],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        print(f"{target}: a finding in {finding}:\n{done.stderr[-6000:]}", file=sys.stderr)
        return None
    return int(done.stdout)


def named(kind: str, target: str) -> Path:
    """The program of that name, which says what it tries."""
    program = BUILD / f"{kind}-{target}"
    if not program.exists():
        program.symlink_to(f"{kind}-target")
    return program


if __name__ == "__main__":
    sys.exit(main())
