"""Run by aider's own Python: aider's map of a folder on stdout, `aider_map.py ROOT TOKENS`.

With ROOT alone, it imports what it needs and does nothing: the empty command to compare with.
The files are read from stdin, one a line.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from aider.repomap import RepoMap  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).parents[3]))
from cub.tokens import estimate_tokens


class Exact(RepoMap):  # type: ignore[misc]
    """Counts the tokens of the whole text, as everyone does here.

    Aider itself counts a sample of the lines. Where that sample is empty lines, which are no tokens
    to this estimator, it would take a long map for an empty one and print nothing.
    """

    def token_count(self, text: str) -> int:
        return estimate_tokens(text)


class Talk:
    """Reads files as aider does, and says nothing."""

    def read_text(self, name: str) -> str | None:
        try:
            return Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeError):
            return None

    def tool_output(self, *_: object) -> None: ...

    tool_warning = tool_error = tool_output


def main(root: str, tokens: int) -> str:
    files = [str(Path(root, line)) for line in sys.stdin.read().split("\n") if line]
    # Without a context window, aider does not multiply the budget for a chat without files.
    made = Exact(map_tokens=tokens, root=root, io=Talk())
    return made.get_repo_map([], files) or ""


if __name__ == "__main__" and len(sys.argv) > 2:
    with contextlib.redirect_stdout(sys.stderr):
        text = main(sys.argv[1], int(sys.argv[2]))
    sys.stdout.write(text)
