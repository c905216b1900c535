"""Format the output of context commands as the blocks that stand in front of a prompt.

No output and no name can end a block or begin another one: the dashes of a delimiter in them get
backslashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cub.context.context_commands import CommandOutput
from cub.tokens import estimate_tokens

_DASHES = re.compile(r"-{3,}")
_DELIMITER = re.compile(r"-{3,}(?=[^\S\n]*(?:End\s+)?Context\b)", re.IGNORECASE)
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
        name = _escape_dashes(_DASHES, " ".join(self.name.split()))
        text = _escape_dashes(_DELIMITER, embed(self.text))
        lines = [self.problem, "Partial output:" if text else ""] if self.problem else []
        body = [*filter(None, lines), text or ("" if self.problem else _NO_OUTPUT)]
        return "\n".join([f"--- {kind}: {name} ---", *filter(None, body), "--- End Context ---"])

    def shorten(self, max_chars: int) -> OutputBlock:
        """Return the block with the first and the last characters of its text."""
        size, half = len(self.text), max_chars // 2
        if size <= max_chars:
            return self
        head, tail = self.text[:half], self.text[size - (max_chars - half) :]
        mark = f"… {size - max_chars:,} characters left out …"
        return self._replace(text=f"{head}\n{mark}\n{tail}")


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


def _escape_dashes(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: r"\-" * len(match[0]), text)
