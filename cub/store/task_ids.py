"""Ids of tasks: short, easy to type, and not given twice, on whatever branch they are made."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from cub.errors import CubError
from cub.text import list_similar

# Crockford's: no letter that reads like another letter or digit.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_OURS = re.compile(rf"([a-z0-9][a-z0-9-]*)-[{ALPHABET}]{{5,8}}")
_PREFIX = 12
# Of two branches that add a hundred tasks each, one in 3,000 gives an id twice at five letters.
_LENGTHS = ((5_000, 5), (150_000, 6))
_MOST = 7
_NEAREST = 3


def encode_letters(data: bytes, count: int) -> str:
    """The first letters of a digest."""
    number = int.from_bytes(data, "big")
    return "".join(ALPHABET[number >> (5 * place) & 31] for place in range(count))


def find_prefix(name: str, ids: Iterable[str]) -> str:
    """What ids of a project begin with: as those that it has, or the name of its folder."""
    for one in ids:
        if found := _OURS.fullmatch(one):
            return found[1]
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    short = ""
    for word in words:
        if short and len(short) + 1 + len(word) > _PREFIX:
            break
        short = f"{short}-{word}" if short else word[:_PREFIX]
    return short or "task"


def make_id(prefix: str, taken: Collection[str], digests: Iterable[bytes]) -> str:
    """An id that is not taken, of the first digest that gives one."""
    length = next((n for most, n in _LENGTHS if len(taken) < most), _MOST)
    tried = (f"{prefix}-{encode_letters(digest, length)}" for digest in digests)
    return next(one for one in tried if one not in taken)


def make_child_id(parent: str, taken: Collection[str]) -> str:
    """The next number below a task."""
    start = f"{parent}."
    numbers = (one[len(start) :] for one in taken if one.startswith(start))
    return (
        f"{start}{max((int(n) for n in numbers if n.isdecimal() and n.isascii()), default=0) + 1}"
    )


def match_id(text: str, ids: Collection[str]) -> str:
    """The id that `text` is, or begins, with or without the project's prefix.

    A task is meant rather than its children. CubError, with those that are near, if none or
    several are.
    """
    if text in ids:
        return text
    found = list_ids_with_prefix(text, ids)
    top = min(found, key=lambda one: (len(one), one), default="")
    if found and all(one == top or one.startswith(f"{top}.") for one in found):
        return top
    if found:
        names = ", ".join(sorted(found)[:_NEAREST]) + (", …" if len(found) > _NEAREST else "")
        raise CubError(f"{text!r} begins {len(found)} ids: {names}", hint="type more of it")
    near = suggest_ids(text, ids)
    raise CubError(
        f"there is no task {text!r}",
        hint=f"did you mean {' or '.join(near)}?" if near else "`cub task list` names all tasks",
    )


def list_ids_with_prefix(text: str, ids: Iterable[str]) -> list[str]:
    """The ids that `text` begins, with or without the project's prefix."""
    wanted = text.casefold()
    return [one for one in ids if wanted and _begins(one.casefold(), wanted)]


def suggest_ids(text: str, ids: Collection[str]) -> list[str]:
    """The ids that `text` may be a slip of, the nearest first."""
    start = text[:2].casefold()
    # Comparing takes time: of very many, only those that begin alike.
    among = ids if len(ids) <= 20_000 else [one for one in ids if _begins(one.casefold(), start)]
    tails = {one.rpartition("-")[2]: one for one in among}
    near = [*list_similar(text, among, _NEAREST), *list_similar(text, tails, _NEAREST)]
    return list(dict.fromkeys(tails.get(one, one) for one in near))[:_NEAREST]


def _begins(one: str, wanted: str) -> bool:
    return one.startswith(wanted) or one.rpartition("-")[2].startswith(wanted)
