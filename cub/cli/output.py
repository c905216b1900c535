"""The only module that prints: results to stdout, talk to stderr."""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, NamedTuple

import typer

from cub.cli.tables import table_rows, wrap
from cub.cli.times import with_local_times
from cub.cli.visible import visible
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, RefusedError

_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}
_SAMPLE = "".join(map(chr, range(32, 127))) + "\n"
_HANGING = "  "  # before the second and later lines of a paragraph
_FORCED = ("FORCE_COLOR", "CLICOLOR_FORCE")
_muted: list[bool] = []
_USUAL = 80  # columns
_KIND_COLORS = {"create": "green", "update": "yellow", "delete": "red"}


class Style(NamedTuple):
    """How a row of a table stands out."""

    fg: str | None = None
    bold: bool | None = None
    dim: bool | None = None


_HEADER = Style(bold=True)


def prepare() -> None:
    """File names and user text of any encoding must never end a command."""
    codecs.register_error("exact", _exact)
    if sys.stdout is None or sys.stderr is None:  # closed by the one who started cub
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            make_harmless(stream)


def make_harmless(stream: TextIOWrapper) -> None:
    """See to it that any text can be printed: in the stream's encoding, or else in UTF-8."""
    encoding = stream.encoding
    try:
        plain = _SAMPLE.encode(encoding)
        begins = plain.startswith(_SAMPLE[0].encode(encoding))
        fits = begins and plain.decode(encoding) == _SAMPLE
    except UnicodeError:  # "idna", "punycode" and "undefined" are names of encodings, too
        plain, fits = b"", False
    # A byte that is no text stands for itself only where a character of ASCII is one byte, too.
    errors = "exact" if plain == _SAMPLE.encode("ascii") or not fits else "backslashreplace"
    # A text that is piped on must not get other line ends on the way, as on Windows.
    stream.reconfigure(encoding=encoding if fits else "utf-8", errors=errors, newline="\n")


def _exact(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes that are no text come out as they were read; what can't be shown is escaped."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def flush() -> None:
    """Bring out what is buffered, while errors can still be told."""
    sys.stdout.flush()
    sys.stderr.flush()


def abandon() -> None:
    """The reader of stdout is gone: keep the interpreter from complaining about it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def line(text: str = "") -> None:
    """One line of the result."""
    typer.echo(text, color=_colored(sys.stdout))


def paragraph(text: str, indent: str = _HANGING) -> None:
    """One line of the result for people: a terminal breaks it between words, and indents the rest.

    What may be copied, or read by a program, is for `line`.
    """
    for part in wrap_line(text, indent):
        line(part)


def wrap_line(text: str, indent: str = _HANGING) -> list[str]:
    """A line of the result as the lines that a terminal shows it in."""
    width = _width(sys.stdout)
    return [text] if width is None else wrap(text, width, indent)


def rows(cells: Sequence[Sequence[str]], prose: Collection[int] = (), indent: str = "") -> None:
    """Rows of a table without a header, behind `indent`; the columns of `prose` may be wrapped."""
    width = _width(sys.stdout)
    for texts in table_rows(cells, width and width - len(indent), prose):
        for text in texts:
            line(f"{indent}{text}")


def talk(text: str) -> None:
    """One line to the person, not part of the result; a terminal breaks it between words."""
    if not _muted:
        _tell(text)


def debug_line(seconds: float, text: str) -> None:
    """One line of what --verbose tells: when, and what."""
    _tell(f"{typer.style(f'{seconds:.3f}s', dim=True)} {visible(text)}")


@contextmanager
def mute() -> Iterator[None]:
    """Only results and errors count meanwhile."""
    _muted.append(True)
    try:
        yield
    finally:
        _muted.pop()


def is_muted() -> bool:
    """Whether only results and errors count."""
    return bool(_muted)


def _tell(text: str) -> None:
    width = _width(sys.stderr)
    for part in [text] if width is None else wrap(text, width, _HANGING):
        _say(part)


def _with_local_times(text: str) -> str:
    return visible(with_local_times(text))


def _say(text: str) -> None:
    typer.echo(text, err=True, color=_colored(sys.stderr))


def warn(warnings: Iterable[PlanWarning]) -> None:
    """Warnings and their hints, for the person."""
    for warning in warnings:
        where = f"{warning.where}: " if warning.where else ""
        talk(f"{typer.style('warning:', fg='yellow')} {_with_local_times(where + warning.message)}")
        if warning.hint:
            talk(f"{typer.style('hint:', fg='cyan')} {_with_local_times(warning.hint)}")


def error(error: CubError) -> None:
    """An error with its details and its hint, for the person."""
    errors = error.errors if isinstance(error, RefusedError) else (error,)
    for one in errors:
        where = f"{one.where}: " if one.where else ""
        _tell(
            f"{typer.style('error:', fg='red', bold=True)} {_with_local_times(where + one.message)}"
        )
        for detail in one.details:
            _say(f"  {_diff_style(visible(detail))}")  # it may be a line of a file
        if one.hint:
            _tell(f"{typer.style('hint:', fg='cyan')} {visible(one.hint)}")


def diff(lines_of_it: Iterable[str]) -> None:
    """A unified diff: every byte of it for `git apply`, harmless and in colors on a terminal."""
    if sys.stdout.isatty():
        lines(map(visible, lines_of_it))
    else:
        text(b"".join(one.encode("utf-8", "surrogateescape") + b"\n" for one in lines_of_it))


def changelog(plan: Plan) -> None:
    """The notes of a plan, each once, beside a diff: what a version step or a migration is."""
    for note in dict.fromkeys(note for edit in plan.edits for note in edit.notes):
        talk(note)


def lines(texts: Iterable[str]) -> None:
    """Lines of the result, those of diffs in colors."""
    for text in texts:
        line(_diff_style(text))


def summary(plan: Plan) -> None:
    """A line for each file: what, which, how many lines, why; version notes below."""
    rows = table_rows([_row(edit) for edit in plan.edits], _width(sys.stdout), prose=(4,))
    for edit, (first, *rest) in zip(plan.edits, rows, strict=True):
        line(typer.style(first[:6], fg=_KIND_COLORS[edit.kind]) + first[6:])
        for text in rest:
            line(text)
        for note in edit.notes:
            paragraph(f"        {note}", "")


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    styles: Sequence[Style] = (),
    *,
    prose: Collection[str] = (),
) -> None:
    """A table, as wide as a terminal allows; in a pipe as wide as it is.

    The columns of `prose` may be wrapped. `styles` are those of the rows.
    """
    wrapped = [number for number, title in enumerate(header) if title in prose]
    laid_out = table_rows([header, *rows], _width(sys.stdout), wrapped)
    for texts, style in zip_longest(laid_out, [_HEADER, *styles], fillvalue=Style()):
        for text in texts:
            line(typer.style(text, fg=style.fg, bold=style.bold, dim=style.dim))


def as_json(tree: dict[str, Any]) -> None:
    """A result for programs; see cub.cli.shapes."""
    line(json.dumps(tree, indent=2))


def as_json_rows(tree: dict[str, Any], key: str, rows: Iterable[dict[str, Any]]) -> None:
    """A result with a list under `key`, of any length: each row on a line, printed as it comes."""
    start, _, end = json.dumps({**tree, key: []}, indent=2).partition(f'"{key}": []')
    write = sys.stdout.write
    write(f'{start}"{key}": [')
    between = "\n"
    for row in rows:
        write(f"{between}    {json.dumps(row)}")
        between = ",\n"
    write(("" if between == "\n" else "\n  ") + f"]{end}\n")


def text(data: bytes) -> None:
    """A whole file as it is, byte for byte, whatever encoding the locale asks for."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()  # before the talk


def heading(text: str) -> None:
    """A line that stands out."""
    for part in wrap_line(text):
        line(typer.style(part, bold=True))


def _row(edit: Edit) -> tuple[str, ...]:
    added, removed = edit.counts
    return (
        edit.kind,
        edit.path,
        f"+{added}" if added else "",
        f"-{removed}" if removed else "",
        edit.reason,
    )


def _diff_style(text: str) -> str:
    if text.startswith(("+++", "---")):
        return typer.style(text, bold=True)
    color = _DIFF_COLORS.get(text[:1])
    return typer.style(text, fg=color) if color else text


def is_live() -> bool:
    """Whether stdout is a terminal on which a view can move."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not _muted


def is_colored() -> bool:
    """Whether stdout takes colors."""
    return _colored(sys.stdout)


def _colored(stream: IO[str]) -> bool:
    """Colors on a terminal, or where they are forced; none where the person or it wants none.

    NO_COLOR decides before the others (no-color.org); an empty one is none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in ("", "0") for name in _FORCED):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def help_width() -> int:
    """The columns for a page of help; in a pipe, those that COLUMNS asks for."""
    said = os.environ.get("COLUMNS", "")
    return _width(sys.stdout) or (int(said) if said.isdecimal() else 0) or _USUAL


def _width(stream: IO[str]) -> int | None:
    """The columns of the terminal that a stream goes to; None for a file or a pipe."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    try:
        columns = int(said) if said.isdecimal() else os.get_terminal_size(stream.fileno()).columns
    except OSError:  # a terminal that does not know
        columns = 0
    return columns or _USUAL
