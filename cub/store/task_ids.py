"""Make and match ids of tasks: short, easy to type, and unique across branches."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Collection, Iterable

from cub.errors import CubError
from cub.text import list_similar

# Crockford's alphabet: no letter that reads like another letter or digit.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_OURS = re.compile(rf"([a-z0-9][a-z0-9-]*)-[{ALPHABET}]{{5,8}}")
_MAX_PREFIX = 12
# Of two branches that add a hundred tasks each, one in 3,000 gives an id twice at five letters.
_LENGTHS = ((5_000, 5), (150_000, 6))
_MAX_LETTERS = 7
_MAX_SHOWN = 3


def encode_letters(data: bytes, count: int) -> str:
    """Return a digest's first `count` letters."""
    number = int.from_bytes(data, "big")
    return "".join(ALPHABET[number >> (5 * place) & 31] for place in range(count))


def find_prefix(name: str, ids: Iterable[str]) -> str:
    """Return what ids of a project begin with: the prefix of its ids, or its directory's name."""
    for task_id in ids:
        if match := _OURS.fullmatch(task_id):
            return match[1]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = " ".join(re.findall(r"[a-z0-9]+", plain)) or "task"
    short = textwrap.wrap(words, _MAX_PREFIX, break_long_words=False)[0]
    return short[:_MAX_PREFIX].replace(" ", "-")


def make_id(prefix: str, taken: Collection[str], digests: Iterable[bytes]) -> str:
    """Return an id that is not taken, made from the first digest that gives one."""
    length = next((n for limit, n in _LENGTHS if len(taken) < limit), _MAX_LETTERS)
    ids = (f"{prefix}-{encode_letters(digest, length)}" for digest in digests)
    return next(task_id for task_id in ids if task_id not in taken)


def make_child_id(parent: str, taken: Collection[str]) -> str:
    """Return the next number below a task."""
    start = f"{parent}."
    ends = (task_id[len(start) :] for task_id in taken if task_id.startswith(start))
    numbers = (int(end) for end in ends if end.isdecimal() and end.isascii())
    return f"{start}{max(numbers, default=0) + 1}"


def match_id(text: str, ids: Collection[str]) -> str:
    """Return the id that `text` is, or begins, with or without the project's prefix.

    A task is preferred to its children. Raises CubError, with ids that are near, if none or several
    match.
    """
    if text in ids:
        return text
    matches = list_ids_with_prefix(text, ids)
    top = min(matches, key=lambda key: (len(key), key), default="")
    if matches and all(key == top or key.startswith(f"{top}.") for key in matches):
        return top
    if matches:
        names = ", ".join(sorted(matches)[:_MAX_SHOWN])
        names += ", …" if len(matches) > _MAX_SHOWN else ""
        raise CubError(f"{text!r} matches {len(matches)} ids: {names}", hint="type more of the id")
    near = suggest_ids(text, ids)
    raise CubError(
        f"there is no task {text!r}",
        hint=f"did you mean {' or '.join(near)}?" if near else "`cub task list` names all tasks",
    )


def list_ids_with_prefix(text: str, ids: Iterable[str]) -> list[str]:
    """Return the ids that `text` begins, with or without the project's prefix."""
    start = text.casefold()
    return [task_id for task_id in ids if start and _begins(task_id.casefold(), start)]


def suggest_ids(text: str, ids: Collection[str]) -> list[str]:
    """Return the ids that `text` may be a slip of, the nearest first."""
    start = text[:2].casefold()
    # Comparing takes time: of very many ids, only those that begin alike are compared.
    ids = ids if len(ids) <= 20_000 else [key for key in ids if _begins(key.casefold(), start)]
    tails = {task_id.rpartition("-")[2]: task_id for task_id in ids}
    near = [*list_similar(text, ids, _MAX_SHOWN), *list_similar(text, tails, _MAX_SHOWN)]
    return list(dict.fromkeys(tails.get(key, key) for key in near))[:_MAX_SHOWN]


def _begins(task_id: str, start: str) -> bool:
    return task_id.startswith(start) or task_id.rpartition("-")[2].startswith(start)
