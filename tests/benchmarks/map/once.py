"""Runs one command and says what it cost, as JSON: `python once.py [--memory] COMMAND...`.

A process of its own for each, because the kernel keeps one peak for all children of a process.
With --memory it also samples what the whole tree of processes holds; that slows the command down,
so its times don't count then.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

_STEP = 0.005
_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss


def main(words: list[str]) -> dict[str, float]:
    """Seconds of CPU and wall; bytes of the largest process and of all together."""
    sampled = words[0] == "--memory"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        words[sampled:], stdin=sys.stdin, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    together = _watch(process) if sampled else (0, 0)
    errors = process.communicate()[1]
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        sys.exit(errors.decode("utf-8", "replace")[-2000:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss * _UNIT
    return {"cpu": cpu, "wall": wall, "largest": peak, "rss": together[0], "pss": together[1]}


def _watch(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The peak of the sum over the tree: resident, and with shared pages counted once."""
    most = (0, 0)
    while process.poll() is None:
        held = [_held(pid) for pid in _tree(process.pid)]
        most = (max(most[0], sum(h[0] for h in held)), max(most[1], sum(h[1] for h in held)))
        time.sleep(_STEP)
    return most


def _tree(root: int) -> list[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        children[parent].append(int(folder.name))
    found = [root]
    for pid in found:
        found += children[pid]
    return found


def _held(pid: int) -> tuple[int, int]:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().split("\n")
    except OSError:
        return 0, 0
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if " kB" in line}
    return sizes.get("Rss", 0), sizes.get("Pss", 0)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1:])))
