"""Format the output of context commands as the blocks that stand in front of a prompt.

No output and no name can end a block or begin another one: the dashes of a delimiter in them get
backslashes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from cub.context.context_commands import CommandOutput

_DASHES = re.compile(r"-{3,}")
_DELIMITER = re.compile(r"-{3,}(?=[^\S\n]*(?:End\s+)?Context\b)", re.IGNORECASE)
_NO_OUTPUT = "(no output)"


class OutputBlock(NamedTuple):
    """Hold a block: the command's name, why it failed ("" if it did not), and what it printed."""

    name: str
    problem: str
    text: str

    def format(self, embed: Callable[[str], str] = str) -> str:
        """Return the block, without a line ending; `embed` makes its text fit for a prompt."""
        kind = "Context Error" if self.problem else "Context"
        name = _escape_dashes(_DASHES, " ".join(self.name.split()))
        text = embed(_escape_dashes(_DELIMITER, self.text))
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


def make_blocks(outputs: Iterable[CommandOutput]) -> list[OutputBlock]:
    """Return a block for each command, except for those whose failure is ignored."""
    return [
        OutputBlock(output.command.name, output.problem, output.text)
        for output in outputs
        if not (output.problem and output.command.on_failure == "ignore")
    ]


def _escape_dashes(pattern: re.Pattern[str], text: str) -> str:
    return pattern.sub(lambda match: r"\-" * len(match[0]), text)
