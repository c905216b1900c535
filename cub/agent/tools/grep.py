"""Find lines in files: the Grep tool."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from cub.agent.tools.file_text import decode_file
from cub.agent.tools.line_search import LineQuery, find_lines
from cub.agent.tools.project_files import (
    compile_search_glob,
    list_searched_files,
    name_found_files,
    resolve_search_path,
)
from cub.agent.tools.tool import ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import FILE_NAMES, FOLDER_NAMES, UNLISTED, ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS, cut_line, join_bounded, quote_name
from cub.files.read_files import read_prefix

_MAX_FILE_BYTES = 20 << 20
_OutputMode = Literal["files_with_matches", "content", "count"]


class GrepArguments(NamedTuple):
    """Hold a regular expression, the files to search, and what to show of them."""

    pattern: Annotated[
        str, "A Python regular expression, for each line.", "regex", "regexp", "query"
    ]
    path: Annotated[str, "The directory or file to search.", *FOLDER_NAMES, *FILE_NAMES] = "."
    glob: Annotated[
        str, "Only files like this, such as `*.py` or `src/**/*.{ts,tsx}`.",
        "include", "include_pattern", "file_pattern",
    ] = ""  # fmt: skip
    type: Annotated[str, "Only files of a language, such as py, js, ts, rust or go."] = ""
    output_mode: Annotated[
        _OutputMode, "Show the paths of files, lines, or how many lines of each file match."
    ] = "files_with_matches"
    ignore_case: Annotated[bool, "Ignore the case of letters.", "-i", "case_insensitive"] = False
    before: Annotated[int, "How many lines to show before each match (content only).", "-B"] = 0
    after: Annotated[int, "How many lines to show after each match (content only).", "-A"] = 0
    context: Annotated[int, "The same for both sides.", "-C", "context_lines"] = 0
    head_limit: Annotated[
        int, "How many lines of output to show at most.", "max_results", "limit"
    ] = 250
    multiline: Annotated[bool, "Let the pattern span lines; . matches line breaks."] = False
    has_numbers: Annotated[bool, UNLISTED, "-n", "line_numbers"] = True
    is_recursive: Annotated[bool, UNLISTED, "-r", "-R", "recursive"] = True


def search_files(arguments: GrepArguments, context: ToolContext) -> ToolOutput:
    """Return what matches, in the order of the paths; binary and very large files don't count.

    Raises ToolError for arguments that are not valid, and for a search that takes too long.
    """
    limits = (arguments.head_limit, arguments.before, arguments.after, arguments.context)
    if min(limits) < 0:
        raise ToolError("numbers of lines are not negative")
    limit = arguments.head_limit or MAX_RESULT_CHARS  # other agents have no limit for 0
    arguments = arguments._replace(head_limit=limit)
    start = resolve_search_path(arguments.path, context)
    folder = start if start.is_dir() else start.parent
    paths, skipped = _choose_paths(arguments, start, folder, context)
    lines = _iter_output(arguments, folder, paths, context)
    with closing(lines):
        text = join_bounded(
            _limit_lines(lines, limit), MAX_RESULT_CHARS, "… cut: narrow the search"
        )
    notice = f"\n({skipped} files of more than {_MAX_FILE_BYTES >> 20} MiB were not searched.)"
    return ToolOutput((text or "No match.") + (notice if skipped else ""))


def _choose_paths(
    arguments: GrepArguments, start: Path, folder: Path, context: ToolContext
) -> tuple[list[str], int]:
    """Return the paths to search, and how many files are too large."""
    if start == folder:
        files = [(file.path, file.size) for file in list_searched_files(folder, context)]
    elif start.is_file():
        files = [(os.fsencode(start.name).decode("utf-8", "surrogateescape"), start.stat().st_size)]
    else:
        raise ToolError(f"{arguments.path} is not a regular file")
    if arguments.glob:
        at_any_depth = "" if "/" in arguments.glob else "**/"
        is_match = compile_search_glob(at_any_depth + arguments.glob, folder)
        files = [(path, size) for path, size in files if is_match(path)]
    if arguments.type:
        endings = _list_endings(arguments.type)
        files = [(path, size) for path, size in files if path.endswith(endings)]
    paths = [path for path, size in files if size <= _MAX_FILE_BYTES]
    return paths, len(files) - len(paths)


def _list_endings(name: str) -> tuple[str, ...]:
    """Return the endings of a language, by its name or one of them; else the name is the ending."""
    from cub.repomap.listing.languages import list_languages

    low = name.lower().removeprefix(".")
    for language in list_languages():
        if low in (language.name.lower(), *language.endings):
            return tuple(f".{ending}" for ending in language.endings)
    return (f".{low}",)


def _iter_output(
    arguments: GrepArguments, folder: Path, paths: Sequence[str], context: ToolContext
) -> Generator[str]:
    """Yield lines of output; closing it ends the search."""
    mode, limit = arguments.output_mode, min(arguments.head_limit + 1, MAX_RESULT_CHARS)
    max_lines = limit if mode == "content" else 1
    query = LineQuery(
        arguments.pattern, arguments.ignore_case, max_lines, mode == "count", arguments.multiline
    )
    before = max(arguments.before, arguments.context)
    after = max(arguments.after, arguments.context)
    name_file = name_found_files(folder, context)
    with closing(find_lines(query, folder, paths, context)) as hits:
        for number, (path, numbers) in enumerate(hits):
            name = quote_name(name_file(path))
            if mode == "files_with_matches":
                yield name
            elif mode == "count":
                yield f"{name}:{numbers[0]}"
            else:
                with suppress(OSError):  # deleted just now
                    data = read_prefix(os.fspath(folder), path, _MAX_FILE_BYTES)
                    yield from ["--"] if number and before + after else ()
                    text = decode_file(data).text
                    yield from _show_matches(name, text, numbers, before, after)


def _show_matches(
    name: str, text: bytes, numbers: Sequence[int], before: int, after: int
) -> Iterator[str]:
    """Yield lines as grep does: `path:number:text`, `path-number-text` around it, `--` between."""
    lines = text.removesuffix(b"\n").split(b"\n")
    matches, shown = set(numbers), 0
    for number in numbers:
        first = max(number - before, shown + 1)
        if shown and first > shown + 1 and before + after:
            yield "--"
        shown = max(shown, min(number + after, len(lines)))
        for place in range(first, shown + 1):
            mark = ":" if place in matches else "-"
            line = lines[place - 1].removesuffix(b"\r").decode("utf-8", "replace")
            yield f"{name}{mark}{place}{mark}{cut_line(line)}"


def _limit_lines(lines: Iterator[str], limit: int) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == limit:
            yield "… there is more: raise head_limit, or narrow the search"
            return
        yield line


GREP = define_tool(
    "Grep",
    "Search the contents of files for a regular expression. Files that git ignores, binary files "
    "and very large ones are left out.",
    GrepArguments,
    search_files,
    "read",
    subject="pattern",
    search="glob",
)
