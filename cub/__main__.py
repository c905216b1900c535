"""Run `python -m cub`, and the `cub` command itself."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

# Commands are short and make few cycles: looking for them often costs more than it frees.
_OBJECTS = 1_000_000
_INTERRUPTED = 130


def main() -> None:
    """Run cub with the process's arguments and exit with its code."""
    if sys.argv[1:] in (["--version"], ["-V"], ["version"]):
        # Scripts ask this often: answered before anything heavy is imported.
        from cub import __version__

        with suppress(OSError, AttributeError):  # closed or full: handled below, as for any command
            sys.stdout.write(f"cub {__version__}\n")
            sys.stdout.flush()
            sys.exit(0)
    _require_utf8()
    gc.set_threshold(_OBJECTS)
    if os.environ.get("_CUB_COMPLETE"):
        from cub.cli.completion.answer import respond_to_shell

        respond_to_shell()
        os._exit(0)  # the user waits for a word; nothing is left to do
    try:
        from cub.cli.app import run_command_line
    except KeyboardInterrupt:  # from there on, it is handled
        os._exit(_INTERRUPTED)

    code = run_command_line(sys.argv[1:])
    if code == _INTERRUPTED:
        os._exit(code)  # Python would kill itself if the signal came while it made a class
    _end_without_traceback()
    gc.freeze()  # nothing is left to be found: the process ends, and the system takes all back
    sys.exit(code)


def _end_without_traceback() -> None:
    """Let a Ctrl-C end the process from here on: Python would report it as an error."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _require_utf8() -> None:
    """Start again in Python's UTF-8 mode if file names have another encoding.

    Git's names are UTF-8 in every locale: one file must not have two names.
    """
    if sys.getfilesystemencoding() != "utf-8":
        argv = [sys.executable, "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, argv)  # noqa: S606 - cub itself


if __name__ == "__main__":
    main()
