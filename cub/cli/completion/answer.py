"""Answer a shell that asks for completions with variables of its environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress

COMPLETION_VARIABLE = "_CUB_COMPLETE"


def respond_to_shell() -> None:
    """Print the answer to stdout."""
    with suppress(OSError, AttributeError):  # the reader is gone, or stdout is closed
        from cub.cli import output

        output.print_bytes(answer_shell(os.environ).encode("utf-8", "replace"))


def answer_shell(environ: Mapping[str, str]) -> str:
    """Return what to print for a shell that asks: the words that may come next, or its script.

    Return "" after any error: you press Tab, and want no message in the middle of your line.
    """
    try:
        return _answer(environ)
    except (Exception, SystemExit):  # noqa: BLE001 - see above
        return ""


def _answer(environ: Mapping[str, str]) -> str:
    from cub.cli.completion.shells import SHELL_SCRIPTS, SHELLS

    action, _, name = environ[COMPLETION_VARIABLE].partition("_")
    shell = SHELLS[name]
    if action != "complete":
        return SHELL_SCRIPTS[name] if action == "source" else ""

    from cub.cli.app import build_root_command
    from cub.cli.completion.candidates import list_candidates
    from cub.cli.completion.command_line import parse_command_line

    completion = parse_command_line(build_root_command(), *shell.parse_words(environ))
    if completion is None:
        return shell.format_candidates([])
    described = shell.shows_descriptions
    return shell.format_candidates(list_candidates(completion, with_descriptions=described))
