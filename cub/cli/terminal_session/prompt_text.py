"""Add to a prompt what a person names in it: the text of @files, and the output of !commands."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from cub.agent.tools.project_files import list_searched_files
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import ToolContext
from cub.checks.terminal_text import to_plain_text
from cub.cli import output
from cub.errors import CubError
from cub.masking import mask_text
from cub.processes.command import CommandSpec, StopRequest
from cub.processes.runner import RunningCommand
from cub.text import cut_middle

_MENTION = re.compile(r'(?<!\S)@(?:"(?P<quoted>[^"\n]+)"|(?P<path>[^\s"]+))')
_END_MARKS = ".,;:!?)'"  # that may end the sentence
_MAX_CHARS = 100_000  # of all files of a prompt; the model reads more by itself
_MAX_OUTPUT = 30_000  # characters of a command, for the model
_MAX_COLLECTED = 4_000_000
_MAX_NAMES = 200  # of a directory


def find_mentions(text: str, context: ToolContext) -> list[str]:
    """Return the files and directories that a prompt names after @, without repetitions.

    A name that is not there is a word such as `@property`, and no mention.
    """
    found = list[str]()
    for name in _list_names(text):
        spellings = [name, name.rstrip(_END_MARKS)]
        found += [one for one in spellings if _exists(one, context)][:1]
    return list(dict.fromkeys(found))


def find_missing_files(text: str, context: ToolContext) -> list[str]:
    """Return the paths after @ that are not there, while their directories are: mistyped ones."""
    paths = {name.rstrip(_END_MARKS) for name in _list_names(text) if "/" in name.strip("/")}
    missing = (path for path in paths if not _exists(path, context))
    return sorted(path for path in missing if _exists(path.rpartition("/")[0], context))


def _list_names(text: str) -> list[str]:
    return [match["quoted"] or match["path"] for match in _MENTION.finditer(text)]


def _exists(name: str, context: ToolContext) -> bool:
    try:
        return bool(name) and context.resolve_path(name).exists()
    except (CubError, OSError):
        return False


def attach_files(text: str, context: ToolContext) -> Iterator[tuple[str, str]]:
    """Yield each file that a prompt names, and its text for the model, as Read shows it.

    The text is "" for what is not attached: an image, a binary file, or one too many. The model
    knows the others, and may change them.
    """
    left = _MAX_CHARS
    for name in find_mentions(text, context):
        path = context.resolve_path(name)
        try:
            if path.is_dir():
                shown = _list_directory(path, context)
            else:
                result = READ.bind({"file_path": name})(context)
                shown = "" if result.images else result.text
        except (CubError, OSError):
            shown = ""
        if len(shown) > left:
            shown = ""
        left -= len(shown)
        yield name, f'<file path="{name}">\n{shown}\n</file>' if shown else ""


def _list_directory(path: Path, context: ToolContext) -> str:
    names = [file.path for file in list_searched_files(path, context)]
    more = [f"… {len(names) - _MAX_NAMES} more files"] * (len(names) > _MAX_NAMES)
    return "\n".join([*names[:_MAX_NAMES], *more]) or "(no files)"


def run_user_command(line: str, folder: Path, environ: Mapping[str, str], stop: StopRequest) -> str:
    """Run a command in the person's shell, print its output as it comes, return it for the model.

    It has no stdin. Raises CubError if it can't be started.
    """
    shell = environ.get("SHELL") or "/bin/sh"
    spec = CommandSpec((shell, "-c", line), folder, environ)
    pieces, size, decoder = list[str](), 0, codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    with RunningCommand(spec, stop=stop, merges_streams=True) as running:
        for chunk in running.iter_output():
            text = decoder.decode(chunk.data)
            size += len(text)
            pieces += [text] if size <= _MAX_COLLECTED else []
            *lines, rest = (rest + text).split("\n")
            for shown in lines:
                output.print_line(to_plain_text(shown))
    if rest:
        output.print_line(to_plain_text(rest))
    end = running.result
    failure = f"{shell}: {end.start_error}" if end.start_error else ""
    how = end.cause or failure or f"exit code {end.shell_exit_code}"
    if how != "exit code 0":
        output.print_message(how)
    shown = cut_middle(mask_text(to_plain_text("".join(pieces))), _MAX_OUTPUT).strip("\n")
    about = f"I ran `{mask_text(line)}` ({how}). Its output:"
    return f"{about}\n\n<output>\n{shown or '(none)'}\n</output>"
