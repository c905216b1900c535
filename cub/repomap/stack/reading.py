"""From the paths of a project to its stack: finds the manifests, reads them, merges the facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cub.errors import CubError
from cub.repomap.notes import Note
from cub.repomap.stack.clean import clean
from cub.repomap.stack.facts import Facts, Manifest, Read, Reader
from cub.repomap.stack.manifests import MOST_MANIFESTS, Found, find
from cub.repomap.stack.merging import merge
from cub.repomap.stack.readers import readers_for
from cub.repomap.stack.stack import Stack

MOST_BYTES = 1_000_000
# What parsers raise for texts that they can't read, or that are nested too deeply for them.
_FAULTS = (ValueError, SyntaxError, RecursionError, MemoryError, OverflowError, CubError)


def read_stack(paths: Sequence[str], read: Read, readers: Sequence[Reader] | None = None) -> Stack:
    """What the manifests among the paths say of the project.

    The result depends on the set of paths and on what is in the manifests, not on any order. At
    most `MOST_MANIFESTS` files are read, those nearest to the root. A file that can't be read, is
    no UTF-8, has more than `MOST_BYTES`, or makes no sense to its reader costs a note.
    """
    readers = readers_for(paths) if readers is None else readers
    found = find(paths, readers)
    known, kept = frozenset(paths), found[:MOST_MANIFESTS]
    facts = [each for one in kept for each in _facts(one, known, read, readers)]
    return merge([*facts, *_too_many(found)])


def _facts(
    found: Found, paths: frozenset[str], read: Read, readers: Sequence[Reader]
) -> Iterator[Facts]:
    """What each reader of a file makes of it."""
    try:
        manifest = Manifest(found.path, _text(read(found.path)), paths)
    except (OSError, ValueError, CubError) as error:
        yield _fault(found.path, error)
        return
    for number in found.readers:
        try:
            yield clean(readers[number].read(manifest))
        except _FAULTS as error:
            yield _fault(found.path, error)


def _text(data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise ValueError(f"this has {len(data):,} bytes, and cub reads no more than {MOST_BYTES:,}")
    if b"\0" in data:
        raise ValueError("this is not a text: it has NUL bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: byte {data[error.start]:#04x} is not UTF-8") from None


def _fault(path: str, error: BaseException) -> Facts:
    return Facts(notes=(Note(path, _words(error)),))


def _words(error: BaseException) -> str:
    """What is wrong, in words that are the same on each system."""
    if isinstance(error, OSError):
        return f"this can't be read: {error.strerror or type(error).__name__}"
    if isinstance(error, RecursionError | MemoryError):
        return "this is nested too deeply"
    if isinstance(error, SyntaxError):
        return f"line {error.lineno or 1}: {error.msg}"
    return " ".join(str(error).split())[:200]


def _too_many(found: list[Found]) -> list[Facts]:
    rest = found[MOST_MANIFESTS:]
    if not rest:
        return []
    message = f"this and {len(rest) - 1:,} deeper manifests are left out: {MOST_MANIFESTS} are read"
    return [Facts(notes=(Note(rest[0].path, message),))]
