"""How much memory this process has used."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_memory(process: int | None = None) -> int:
    """The most bytes that were in memory at once, of this process or of another that runs.

    Not what getrusage says: that counts the program that started this one, until it was replaced.
    """
    try:
        for line in Path(f"/proc/{process or 'self'}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    if process is not None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
