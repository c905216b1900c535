"""Facts fit to be shown: one line each, of a sensible length, without control characters.

Manifests are other people's texts, and readers take them as they are; this is the one gate.
"""

from __future__ import annotations

import re

from cub.repomap.notes import Note
from cub.repomap.stack.facts import Command, Facts, Package, Technology

LONGEST_NAME = 80
LONGEST_COMMAND = 120
LONGEST_DESCRIPTION = 300
_VERSION = re.compile(r"[\w .,:/<>=~^!*|+()-]{0,60}")
# Controls, and what shows nothing or turns text around: nobody could see what a map then says.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)


def clean(facts: Facts) -> Facts:
    """The facts without those that no line could show; descriptions are cut, versions dropped."""
    return Facts(
        tuple(_technology(one) for one in facts.technologies if _fits(one.name)),
        tuple(one for one in facts.commands if _is_command(one)),
        tuple(one for one in facts.entry_points if _fits(one.name) and _fits(one.target, 200)),
        tuple(_package(one) for one in facts.packages if _fits(one.name or "-")),
        tuple(Note(one.path, one_line(one.message)) for one in facts.notes),
    )


def one_line(text: str, longest: int = LONGEST_DESCRIPTION) -> str:
    """A text in one line, cut at a word if it is too long."""
    short = " ".join(_UNSEEN.sub(" ", text[: 4 * longest]).split())
    if len(short) <= longest:
        return short
    return f"{short[: longest - 1].rpartition(' ')[0] or short[: longest - 1]}…"


def _fits(text: str, longest: int = LONGEST_NAME) -> bool:
    return 0 < len(text) <= longest and text == text.strip() and not _UNSEEN.search(text)


def _technology(one: Technology) -> Technology:
    version = " ".join(one.version[:200].split())
    return one._replace(version=version if _VERSION.fullmatch(version) else "")


def _is_command(one: Command) -> bool:
    return _fits(one.text, LONGEST_COMMAND) and not (set("`$") & set(one.text))


def _package(one: Package) -> Package:
    return one._replace(description=one_line(one.description))
