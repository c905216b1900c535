"""Whole files of cub's own: a header that carries version and digest, and the body behind it."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from cub.edit.document import split_lines
from cub.edit.sections import digest

Comment = Literal["<!-- {} -->", "# {}"]

_TITLE = "cub file v{version}: `cub update` refreshes it while nobody edits it"
_HEADER = re.compile(
    rb"[^\n]*?cub file v(?P<version>\d{1,9}):[^\n]*\n"
    rb"\s*[^\n]*?cub:digest (?P<digest>sha256-[0-9a-f]{16})[^\n]*\n"
)


class Seal(NamedTuple):
    """What a file's header says; `intact` if the body is still the one it was written for."""

    version: int
    digest: str
    intact: bool


def seal(body: str, version: int, comment: Comment) -> bytes:
    """`body` as a file of cub's own."""
    title = comment.format(_TITLE.format(version=version))
    proof = comment.format(f"cub:digest {digest(body.encode())}")
    return f"{title}\n{proof}\n\n{body}".encode()


def unseal(data: bytes) -> Seal | None:
    """The header of a file, or None where it has none and is somebody else's."""
    text = b"\n".join(line.rstrip(b"\r\n") for line in split_lines(data)) + b"\n"
    found = _HEADER.match(text)
    if found is None:
        return None
    recorded = found["digest"].decode()
    return Seal(int(found["version"]), recorded, digest(text[found.end() :]) == recorded)
