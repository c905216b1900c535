"""Starts the Python program of argv[1] in a session of its own, then sweeps as where nobody
adopts orphans; prints what was there before and after."""

from __future__ import annotations

import os
import subprocess
import sys

from cub.processes.process_tree import end_descendants, find_descendant_pids

if __name__ == "__main__":
    command = [sys.executable, "-I", "-S", "-c", sys.argv[1]]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        told = [int(client.stdout.readline()) for _ in range(2)]
        before = find_descendant_pids(client.pid, adopts=False)
        wake, other = os.pipe()
        os.set_blocking(wake, False)
        end_descendants(client.pid, wake, adopts=False, grace=0.05)
        print(set(told) <= set(before), find_descendant_pids(client.pid, adopts=False))  # noqa: T201
