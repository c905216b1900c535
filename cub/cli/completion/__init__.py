"""Completion of command lines: a shell asks with variables of its environment, and cub answers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

VARIABLE = "_CUB_COMPLETE"


def respond() -> None:
    """Answer on stdout."""
    with suppress(OSError, AttributeError):  # nobody reads it any more, or stdout is closed
        from cub.cli import output

        output.text(answer(os.environ).encode("utf-8", "replace"))


def answer(environ: Mapping[str, str]) -> str:
    """What to print for a shell that asks: the words that may come next, or its script.

    Whatever goes wrong, a person who presses Tab wants no message in the middle of their line.
    """
    try:
        return _answer(environ)
    except (Exception, SystemExit):  # noqa: BLE001 - see above; nothing is lost by no offer
        return ""


def _answer(environ: Mapping[str, str]) -> str:
    from cub.cli.completion.shells import SHELLS

    what, _, name = environ[VARIABLE].partition("_")
    shell = SHELLS[name]
    if what == "source":
        from cub.cli.completion.scripts import SCRIPTS

        return SCRIPTS[name]
    if what != "complete":
        return ""
    words, word = shell.typed(environ)
    return shell.shown(_offers(words, word, described=shell.describes))


def _offers(words: list[str], word: str, *, described: bool) -> list[tuple[str, str]]:

    from cub.cli.app import root_command
    from cub.cli.completion.offers import offers
    from cub.cli.completion.place import find_place

    place = find_place(root_command(), words, word)
    return offers(place, described=described) if place else []
