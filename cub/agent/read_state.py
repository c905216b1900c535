"""Remember which files the model has read, so that it overwrites none that it does not know."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from threading import Lock

MAX_FILES = 500


class ReadState:
    """Hold digests of the files that were read last, by their real paths; threads may share it.

    The content decides, and no time: a file that was only touched is still known. The files that
    were read longest ago are forgotten first: the model has to read them again.
    """

    def __init__(self) -> None:
        self._digests: OrderedDict[Path, bytes] = OrderedDict()
        self._lock = Lock()

    def record_file(self, path: Path, data: bytes) -> None:
        """Note that the model knows a file with these bytes."""
        with self._lock:
            self._digests[path] = sha256(data).digest()
            self._digests.move_to_end(path)
            while len(self._digests) > MAX_FILES:
                self._digests.popitem(last=False)

    def explain_unknown(self, path: Path, data: bytes) -> str:
        """Say why a file with these bytes may not be changed; "" if the model knows them."""
        with self._lock:
            digest = self._digests.get(path)
        if digest is None:
            return "it was not read yet: use Read first"
        if digest != sha256(data).digest():
            return "it has changed since it was read: use Read again"
        return ""

    def clear(self) -> None:
        """Forget all files: the model no longer has their text before it."""
        with self._lock:
            self._digests.clear()
