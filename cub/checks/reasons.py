"""Why a command failed, in one line of what it printed: what is wrong, not what it printed last."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cub.checks.crashes import find_crash
from cub.checks.plain import plain

LONGEST = 300  # characters
_LONGEST_LINE = 1_000
# A word for an error with a colon behind it, but no count of none; or the end of a shell's line.
_WRONG = re.compile(
    r"(?i:\b(?:\w*error|\w*exception|fatal|failure|failed|panic)(?:\[\w+\]| \[\w+\])?\]?:(?! *0\b))"
    r"|\[ERROR\]|[Ss]yntax error|\*\*\* No rule to make"
    r"|: (?:command )?not found$|: No such file or directory$|: [Pp]ermission denied$"
    r"|: unbound variable$|: parameter not set$|^npm error Missing script"
)
# What stands behind an error: stacks, marks, and what tools say of a command that they called.
_NOISE = re.compile(
    r"\s+at \S.*|\tfrom .*|\s*[\^~]+\s*|Node\.js v\d.*|[})\]]+[;,]?|\(.*\)|> .*"
    r"|npm (?:ERR!|error|warn|notice)(?:\s*|\s+(?:code|errno|path|command|signal|syscall|workspace|"
    r"location|Lifecycle script|Exit status|A complete log|To see a list|Did you mean|  ).*)"
    r"|make(?:\[\d+\])?: \*\*\* \[.*|make(?:\[\d+\])?: (?:Leaving|Entering) directory .*"
    r"|.*\bELIFECYCLE\b.*|error Command failed with exit code \d+\.|info Visit https?://.*"
    r"|exit status \d+|Command failed with status .*|error: script \".*\" exited with code \d+"
    r"|Tasks: TOP => .*|Press ENTER .*"
)


def find_reason(output: str) -> str:
    """The first line that says what is wrong, with its place if a runtime tells one; else the last
    one that says anything.
    """
    lines = [line[:_LONGEST_LINE] for line in plain(output).split("\n")]
    if crash := find_crash(lines):
        where = f" ({crash.place})" if crash.place else ""
        return _line(crash.message, LONGEST - len(where)) + where
    wrong = (line for line in lines if _WRONG.search(line) and _says(line))
    return _line(next(wrong, "") or _last(lines), LONGEST)


def find_last_words(output: str) -> str:
    """What a program says last before its end; what ended it, if its runtime tells that."""
    lines = [line[:_LONGEST_LINE] for line in plain(output).split("\n")]
    if crash := find_crash(lines):
        return _line(crash.message, LONGEST)
    return _line(_last(lines), LONGEST)


def _last(lines: Sequence[str]) -> str:
    """The last line that says anything, be it noise where there is nothing else."""
    told = (line for line in reversed(lines) if _says(line))
    return next(told, "") or next((line for line in reversed(lines) if line.strip()), "")


def _says(line: str) -> bool:
    return bool(line.strip()) and _NOISE.fullmatch(line) is None


def _line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
