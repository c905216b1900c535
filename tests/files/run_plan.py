"""Carries out the plan over every kind of file in the project at argv[1].

With argv[2] and argv[3], it sends itself the signal of that name just before the step of that
number, while it writes 16 bytes at a time.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

from tests.files.disks import stopping
from tests.files.worlds import change

if __name__ == "__main__":
    root, *when = sys.argv[1:]
    stops = {int(when[1]): lambda _: signal.raise_signal(signal.Signals[when[0]])} if when else {}
    change(Path(root), disk=stopping(stops, chunk=16))
