"""Print results to stdout and messages to stderr, and make both harmless.

Nothing printed here moves a terminal or hides from a reader. Data for programs is exact in a pipe
or a file, and harmless on a terminal. Callers pass texts as they are, with styles of
cub.cli.terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, repeat, zip_longest
from typing import IO, Any

import typer

from cub.cli.tables import layout_rows, wrap_text
from cub.cli.terminal import (
    TextStyle,
    add_style,
    escape_unsafe,
    get_width,
    render_styles,
    supports_color,
    supports_live_view,
)
from cub.cli.time_format import localize_timestamps
from cub.cli.typed_input import set_typing
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CombinedError, CubError, UsageError

_DIFF_COLORS: dict[str, TextStyle] = {"+": "green", "-": "red", "@": "cyan"}
_KIND_COLORS: dict[str, TextStyle] = {"create": "green", "update": "yellow", "delete": "red"}
_HANGING_INDENT = "  "  # before the second and later lines of a paragraph
_mute_stack: list[bool] = []


def print_line(text: str = "") -> None:
    """Print one line of the result; a line ending inside it is written out."""
    _print(text, sys.stdout)


def print_flushed_line(text: str) -> None:
    """Print a line of the result at once, for readers at the other end of a pipe."""
    print_line(text)
    sys.stdout.flush()


def print_paragraph(text: str, indent: str = _HANGING_INDENT) -> None:
    """Print one line of the result for people; a terminal wraps it and indents the rest.

    What may be copied, or read by a program, is for `print_line`.
    """
    for part in wrap_line(text, indent):
        print_line(part)


def wrap_line(text: str, indent: str = _HANGING_INDENT) -> list[str]:
    """Return the lines in which a terminal shows a line of the result."""
    return _wrap(text, sys.stdout, indent)


def print_rows(
    cells: Sequence[Sequence[str]], prose: Collection[int] = (), indent: str = ""
) -> None:
    """Print rows without a header after `indent`; the columns of `prose` may be wrapped."""
    width = get_width(sys.stdout)
    for texts in layout_rows(_escape_cells(cells), width and width - len(indent), prose):
        for text in texts:
            print_line(f"{indent}{text}")


def print_message(text: str) -> None:
    """Print one line to the user that is not part of the result; a terminal wraps it."""
    if not _mute_stack:
        _print_to_stderr(text)


def print_commands(lines: Iterable[str]) -> None:
    """Print commands for the user to copy: a terminal does not break them."""
    if not _mute_stack:
        with suppress(OSError):
            for line in lines:
                _print(f"  {escape_unsafe(line)}", sys.stderr)


def print_message_from_signal(text: str) -> None:
    """Print a message from a signal handler, without touching buffered output."""
    if not _mute_stack:
        with suppress(OSError):
            os.write(2, f"{text}\n".encode("ascii", "replace"))


def draw_on_last_line(text: str) -> None:
    """Replace what is on the last line of stderr's terminal, without ending the line."""
    with suppress(OSError):
        sys.stderr.write(f"\r\x1b[K{escape_unsafe(text)}")
        sys.stderr.flush()


def ask_confirmation(question: str, *, default: bool = False) -> bool:
    """Ask the user at the terminal; without an answer, it is `default`."""
    answers = {"": default, "y": True, "yes": True, "n": False, "no": False}
    text = f"{question} [{'Y/n' if default else 'y/N'}]"
    while (answer := ask_text(text).strip().lower()) not in answers:
        print_message(f"unknown answer {answer!r}; choose from y, n")
    return answers[answer]


def require_confirmation(action: str, question: str) -> None:
    """Ask the user at the terminal before something is deleted.

    Raises UsageError if there is no terminal, which names the action, and CubError for a no.
    """
    if not sys.stdin.isatty():
        what = f"{action} needs confirmation, but stdin is not a terminal"
        raise UsageError(what, hint="pass --yes")
    if not ask_confirmation(question):
        raise CubError("nothing was deleted")


def ask_choice(question: str, choices: Sequence[str], noun: str) -> str:
    """Ask the user at the terminal for one of several words; the first one is the default."""
    listed = ", ".join(choices)
    text = f"{question} ({listed}) [{choices[0]}]"
    while (answer := ask_text(text).strip() or choices[0]) not in choices:
        print_message(f"unknown {noun} {answer!r}; choose from {listed}")
    return answer


def ask_text(question: str) -> str:
    """Ask the user at the terminal for a line, which may be empty.

    Raises typer.Abort for the end of stdin; after that and Ctrl-C, the question's line is ended.
    """
    try:
        with set_typing(is_shown=True):  # first: the answer may come as soon as the question shows
            sys.stderr.write(escape_unsafe(f"{question}: "))
            sys.stderr.flush()
            line = sys.stdin.readline()  # `input` may drop what a signal handler raises
    except KeyboardInterrupt:
        print_message("")
        raise
    if not line:
        print_message("")
        raise typer.Abort
    return line.removesuffix("\n")


def can_ask() -> bool:
    """Return whether a person at a terminal can be asked, and has not asked for silence."""
    # A stream that was closed from the start is None.
    streams = (sys.stdin, sys.stderr)
    return not _mute_stack and all(stream and stream.isatty() for stream in streams)


@contextmanager
def mute_messages() -> Iterator[None]:
    """Print only results and errors inside the context."""
    _mute_stack.append(True)
    try:
        yield
    finally:
        _mute_stack.pop()


def is_muted() -> bool:
    """Return whether only results and errors are printed."""
    return bool(_mute_stack)


def print_warnings(warnings: Iterable[PlanWarning]) -> None:
    """Print warnings for the user; a hint that several in a row share comes after the last one."""
    rows = list(warnings)
    for warning, following in zip_longest(rows, rows[1:]):
        where = f"{warning.location}: " if warning.location else ""
        print_message(
            f"{add_style('warning:', 'yellow')} {localize_timestamps(where + warning.message)}"
        )
        if warning.hint and not (following and following.hint == warning.hint):
            print_hint(warning.hint)


def print_hint(text: str) -> None:
    """Print a hint, for the user."""
    print_message(f"{add_style('hint:', 'cyan')} {localize_timestamps(text)}")


def print_error(error: CubError) -> None:
    """Print an error with its details and its hint."""
    errors = error.errors if isinstance(error, CombinedError) else (error,)
    for item in errors:
        where = f"{item.where}: " if item.where else ""
        title = add_style("error:", "red", "bold")
        _print_to_stderr(f"{title} {localize_timestamps(where + item.message)}")
        for detail in item.details:
            _print(f"  {style_diff_line(detail)}", sys.stderr)  # it may be a line of a file
        if item.hint:
            _print_to_stderr(f"{add_style('hint:', 'cyan')} {item.hint}")


def print_diff(lines: Iterable[str]) -> None:
    """Print a unified diff: exact for `git apply`, harmless and in color on a terminal."""
    if sys.stdout.isatty():
        print_lines(lines)
    else:
        print_bytes(b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines))


def print_lines(texts: Iterable[str]) -> None:
    """Print lines of the result, those of diffs in color."""
    for text in texts:
        print_line(style_diff_line(text))


def print_plan_summary(plan: Plan, *, is_preview: bool = False) -> None:
    """Print a line for each file: action, path, line counts, reason; then version notes."""
    verb = "would " if is_preview else ""
    cells = _escape_cells([_make_plan_row(edit, verb) for edit in plan.edits])
    end = len(f"{verb}create")  # all kinds are as long
    laid_out = layout_rows(cells, get_width(sys.stdout), prose=(4,))
    for edit, (first, *rest) in zip(plan.edits, laid_out, strict=True):
        print_line(add_style(first[:end], _KIND_COLORS[edit.kind]) + first[end:])
        for text in rest:
            print_line(text)
        for note in edit.changelog:
            print_paragraph(f"        {note}", "")


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[TextStyle | None] = (),
    *,
    prose: Collection[str] = (),
) -> None:
    """Print a table, as wide as a terminal allows; in a pipe as wide as it is.

    The columns of `prose` may be wrapped. `styles` are those of the rows.
    """
    wrapped = [number for number, title in enumerate(header) if title in prose]
    laid_out = layout_rows(_escape_cells([header, *rows]), get_width(sys.stdout), wrapped)
    row_styles: Iterable[TextStyle | None] = chain(["bold"], styles, repeat(None))
    for texts, row_style in zip(laid_out, row_styles, strict=False):
        for text in texts:
            print_line(add_style(text, row_style))


def print_legend(meanings: Mapping[str, str], shown: str) -> None:
    """Explain the terms that `shown` contains, below a table; only on a terminal."""
    if get_width(sys.stdout) is None:
        return
    lines = [f"{term}: {meaning}" for term, meaning in meanings.items() if term in shown]
    for line in ["", *lines] if lines else ():
        for part in wrap_line(line):
            print_line(add_style(part, "dim"))


def print_json(tree: dict[str, Any]) -> None:
    """Print a result for programs; JSON is in ASCII, so it moves no terminal."""
    sys.stdout.write(json.dumps(tree, indent=2) + "\n")


def print_json_line(tree: dict[str, Any]) -> None:
    """Print JSON on one line, at once: for a program that follows along."""
    print_flushed_line(json.dumps(tree))


def print_json_rows(tree: dict[str, Any], key: str, rows: Iterable[dict[str, Any]]) -> None:
    """Print a result with a list under `key`, of any length: each row on a line, as it comes."""
    start, _, end = json.dumps({**tree, key: []}, indent=2).partition(f'"{key}": []')
    write = sys.stdout.write
    write(f'{start}"{key}": [')
    between = "\n"
    for row in rows:
        write(f"{between}    {json.dumps(row)}")
        between = ",\n"
    write(("" if between == "\n" else "\n  ") + f"]{end}\n")


def print_value(text: str) -> None:
    """Print one value for a program, in the encoding of stdout; harmless on a terminal."""
    if sys.stdout.isatty():
        _show_document(text)
    else:
        sys.stdout.write(f"{text}\n")


def print_bytes(data: bytes) -> None:
    """Print a whole file byte for byte, whatever the locale; harmless on a terminal."""
    if sys.stdout.isatty():
        _show_document(data.decode("utf-8", "surrogateescape").removesuffix("\n"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()  # before the talk


def _show_document(text: str) -> None:
    for line in text.split("\n"):
        print_line(line.removesuffix("\r"))


def print_heading(text: str) -> None:
    """Print a line that stands out."""
    for part in wrap_line(text):
        print_line(add_style(part, "bold"))


def print_step(text: str) -> None:
    """Print a heading after a blank line."""
    print_line()
    print_heading(text)


def format_for_terminal(text: str) -> str:
    """Format one line for code that prints to stdout itself: the live view, and typer's help."""
    return render_styles(text, use_color=has_color())


def supports_live_output() -> bool:
    """Return whether stdout is a terminal on which a view can move."""
    return supports_live_view(sys.stdout) and not _mute_stack


def has_color() -> bool:
    """Return whether stdout takes colors."""
    return supports_color(sys.stdout)


def _print_to_stderr(text: str) -> None:
    with suppress(OSError):  # a message that nobody can read ends no command
        for part in _wrap(text, sys.stderr, _HANGING_INDENT):
            _print(part, sys.stderr)


def _wrap(text: str, stream: IO[str], indent: str) -> list[str]:
    width, text = get_width(stream), escape_unsafe(text)
    return [text] if width is None else wrap_text(text, width, indent)


def _escape_cells(cells: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return cells as they are shown, before their widths are measured."""
    return [[escape_unsafe(cell) for cell in row] for row in cells]


def _print(text: str, stream: IO[str]) -> None:
    use_color = supports_color(stream)
    typer.echo(render_styles(text, use_color=use_color), file=stream, color=use_color)


def _make_plan_row(edit: FileEdit, verb: str) -> tuple[str, ...]:
    added, removed = edit.changed_line_counts
    return (
        f"{verb}{edit.kind}",
        edit.path,
        f"+{added}" if added else "",
        f"-{removed}" if removed else "",
        edit.reason,
    )


def style_diff_line(text: str) -> str:
    """Return a line of a unified diff in its color."""
    if text.startswith(("+++", "---")):
        return add_style(text, "bold")
    return add_style(text, _DIFF_COLORS.get(text[:1]))
