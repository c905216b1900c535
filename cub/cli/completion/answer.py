"""Completion of command lines: a shell asks with variables of its environment, and cub answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

COMPLETION_VARIABLE = "_CUB_COMPLETE"


def respond_to_shell() -> None:
    """Answer on stdout."""
    with suppress(OSError, AttributeError):  # nobody reads it any more, or stdout is closed
        from cub.cli import output

        output.print_bytes(answer_shell(os.environ).encode("utf-8", "replace"))


def answer_shell(environ: Mapping[str, str]) -> str:
    """What to print for a shell that asks: the words that may come next, or its script.

    Whatever goes wrong, a person who presses Tab wants no message in the middle of their line.
    """
    try:
        return _answer(environ)
    except (Exception, SystemExit):  # noqa: BLE001 - see above; nothing is lost by no offer
        return ""


def _answer(environ: Mapping[str, str]) -> str:
    from cub.cli.completion.shells import SHELLS

    what, _, name = environ[COMPLETION_VARIABLE].partition("_")
    shell = SHELLS[name]
    if what == "source":
        from cub.cli.completion.shells import SHELL_SCRIPTS

        return SHELL_SCRIPTS[name]
    if what != "complete":
        return ""
    words, word = shell.parse_words(environ)
    return shell.format_candidates(_offers(words, word, described=shell.shows_descriptions))


def _offers(words: list[str], word: str, *, described: bool) -> list[tuple[str, str]]:

    from cub.cli.app import build_root_command
    from cub.cli.completion.candidates import list_candidates
    from cub.cli.completion.command_line import parse_command_line

    place = parse_command_line(build_root_command(), words, word)
    return list_candidates(place, with_descriptions=described) if place else []
