"""Format the output of context commands as the blocks that stand in front of a prompt.

No output and no name can end a block or begin another one: the dashes of a delimiter in them get
backslashes. What only looks like a delimiter counts as one: other dashes and spaces, letters of
other alphabets, characters that take no room.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from cub.checks.terminal_text import to_plain_text
from cub.context.context_commands import CommandOutput
from cub.text import cut_middle
from cub.tokens import estimate_tokens

# They match what `_fold` makes of a line.
_RUN = re.compile(r"(?P<first>(?:^|\n) *)?-(?: *-)*")
_END = re.compile(r" *End[ -]*Context", re.IGNORECASE)
_TITLE = re.compile(r" *(?:End[ -]*)?Context", re.IGNORECASE)
_LOOKS_LIKE_DASH = frozenset("−⁻₋─━┄┅┈┉╌╍╴╶╸╺╼╾⎯⏤˗⁃➖ーｰ一ㅡ‾¯￣")  # noqa: RUF001
_LOOKS_LIKE_LETTER = str.maketrans("ЕеΕεСсϹϲОоΟοТтΤτХхΧχԁпոη", "EeEeCcCcOoOoTtTtXxXxdnnn")
_TAKES_NO_ROOM = frozenset("ᅟᅠㅤﾠ⠀")
_INVISIBLE = ("Cc", "Cf", "Mn", "Me", "Cs")
_FIRST_LINE = re.compile(r"--- (Context(?: Error)?: .*) ---\s*")
_NO_OUTPUT = "(no output)"
_MIN_CHARS = 200  # of a text that is cut; then whole blocks go


class OutputBlock(NamedTuple):
    """Hold a block: the command's name, why it failed ("" if it did not), and what it printed."""

    name: str
    problem: str
    text: str

    def format(self, embed: Callable[[str], str] = str) -> str:
        """Return the block, without a line ending; `embed` makes its text fit for a prompt."""
        kind = "Context Error" if self.problem else "Context"
        name = _escape_dashes(_is_long, " ".join(to_plain_text(self.name).split()))
        text = embed(self.text)
        lines = [self.problem, "Partial output:" if text else ""] if self.problem else []
        body = [*filter(None, lines), text or ("" if self.problem else _NO_OUTPUT)]
        inner = _escape_dashes(_is_delimiter, "\n".join(filter(None, body)))
        return f"--- {kind}: {name} ---\n{inner}\n--- End Context ---"

    def shorten(self, max_chars: int) -> OutputBlock:
        """Return the block with the first and the last characters of its text."""
        return self._replace(text=cut_middle(self.text, max_chars))


@dataclass(frozen=True, slots=True)
class BlockList:
    """Hold blocks in their order, each with `max_chars` of its text at most; None is no limit."""

    blocks: tuple[OutputBlock, ...] = ()
    max_chars: int | None = None

    def __len__(self) -> int:
        """Return the number of characters."""
        return len(self.format())

    @property
    def tokens(self) -> int:
        """Return the estimated cost."""
        return estimate_tokens(self.format())

    def format(self, embed: Callable[[str], str] = str) -> str:
        """Return the blocks, with an empty line after each; "" if there is none."""
        limit = self._longest if self.max_chars is None else self.max_chars
        return "".join(f"{block.shorten(limit).format(embed)}\n\n" for block in self.blocks)

    def shrink(self) -> BlockList | None:
        """Return less of the longest texts, or else one block less; None if there is no block."""
        longest = min(self._longest, self.max_chars or self._longest)
        if longest > _MIN_CHARS:
            return replace(self, max_chars=longest * 3 // 4)
        return replace(self, blocks=self.blocks[:-1]) if self.blocks else None

    @property
    def _longest(self) -> int:
        return max((len(block.text) for block in self.blocks), default=0)


def make_blocks(outputs: Iterable[CommandOutput]) -> list[OutputBlock]:
    """Return a block for each command, except for those whose failure is ignored."""
    return [
        OutputBlock(output.command.name, output.problem, output.text)
        for output in outputs
        if not (output.problem and output.command.on_failure == "ignore")
    ]


def find_block_starts(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line of each block, and the block's title."""
    for number, line in enumerate(lines):
        if match := _FIRST_LINE.fullmatch(line):
            yield number, match[1]


def _is_long(run: re.Match[str]) -> bool:
    return run[0].count("-") >= len("---")


def _is_delimiter(run: re.Match[str]) -> bool:
    """Return whether dashes stand before the title of a block, or a line ends one as it looks."""
    is_end = run["first"] is not None and _END.match(run.string, run.end())
    return bool(is_end or (_is_long(run) and _TITLE.match(run.string, run.end())))


def _escape_dashes(is_meant: Callable[[re.Match[str]], bool], text: str) -> str:
    """Put a backslash before the dashes of those runs, in each line as it looks."""
    return "\n".join(_escape_line(is_meant, line) for line in text.split("\n"))


def _escape_line(is_meant: Callable[[re.Match[str]], bool], line: str) -> str:
    folded, places = line, list(range(len(line)))
    if not (line.isascii() and line.isprintable()):
        looks = [*map(_fold, line)]
        folded = "".join(looks)
        places = [place for place, look in enumerate(looks) for _ in look]
    dashes = {
        places[at]
        for run in filter(is_meant, _RUN.finditer(folded))
        for at in range(*run.span())
        if folded[at] == "-"
    }
    if not dashes:
        return line
    return "".join("\\" * (at in dashes) + character for at, character in enumerate(line))


@cache
def _fold(character: str) -> str:
    """Return what a character looks like: two dashes for one that is not ASCII's, often longer."""
    if character.isascii() and character.isprintable():
        return character
    kind = unicodedata.category(character)
    if kind == "Pd" or character in _LOOKS_LIKE_DASH:
        return "--"
    if character.isspace():
        return "\n" if len(f".{character}.".splitlines()) > 1 else " "
    if kind in _INVISIBLE or character in _TAKES_NO_ROOM:
        return ""
    return unicodedata.normalize("NFKC", character).translate(_LOOKS_LIKE_LETTER)
