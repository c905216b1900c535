"""Remember which files the model has read, so that it overwrites none that it does not know."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path


class ReadState:
    """Hold digests of the files that were read, by their real paths; threads may share it.

    The content decides, and no time: a file that was only touched is still known.
    """

    def __init__(self) -> None:
        self._digests: dict[Path, bytes] = {}

    def record_file(self, path: Path, data: bytes) -> None:
        """Note that the model knows a file with these bytes."""
        self._digests[path] = sha256(data).digest()

    def explain_unknown(self, path: Path, data: bytes) -> str:
        """Say why a file with these bytes may not be changed; "" if the model knows them."""
        digest = self._digests.get(path)
        if digest is None:
            return "it was not read yet: use Read first"
        if digest != sha256(data).digest():
            return "it has changed since it was read: use Read again"
        return ""

    def clear(self) -> None:
        """Forget all files: the model no longer has their text before it."""
        self._digests.clear()

    def copy(self) -> ReadState:
        """Return one that knows the same files, and goes its own way from now on."""
        copy = ReadState()
        copy._digests = dict(self._digests)
        return copy
