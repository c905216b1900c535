"""Find the texts that agents may read in a project, and mark each of them."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from cub.actions.agents.text_marks import Marks, UnmarkedText, mark_texts
from cub.actions.project_texts import (
    ProjectText,
    TextPart,
    list_readable_texts,
    open_agent_files,
)
from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.project.project import Project
from cub.project.rule_locations import is_instruction_file


class MarkedProject(NamedTuple):
    """Hold texts with their marks, and with the marks in them the files by real path, and prompts.

    A text without marks can't be told from others.
    """

    texts: list[tuple[ProjectText, Marks]]
    files: Mapping[Path, bytes]
    prompts: Mapping[str, str]


def mark_project(
    project: Project, base: Path, paths: Iterable[Path], prompts: Mapping[str, str]
) -> MarkedProject:
    """Return a project's texts for agents, and prompts by label, with marks in them.

    `paths` are its files, and those above it that agents may read. No other file counts that is not
    below `base`. Prompts are texts without a path.
    """
    files = open_agent_files(project, {})
    readable = [path.as_posix() for path in paths if path.resolve().is_relative_to(base)]
    chosen = list(_choose(files, readable))
    texts = list_readable_texts(project, frozenset(readable), chosen)
    paths_of_texts = [*chosen, *(part.path for text in texts for part in text.parts)]
    real = sorted(set(map(files.resolve, paths_of_texts)))
    data = {path: files.read(path) for path in real if files.is_below(path, base.as_posix())}
    plain = {label: text.encode() for label, text in prompts.items()}
    texts += [
        ProjectText(label, "", (TextPart(label, text, ((0, len(text)),)),))
        for label, text in plain.items()
    ]
    unmarked = [
        UnmarkedText(
            files.resolve(text.parts[0].path) if text.path else text.label,
            text.variants,
            text.strip_imports(text.variants[0]),
        )
        for text in texts
    ]
    marked, marks = mark_texts(data | plain, unmarked)
    return MarkedProject(
        list(zip(texts, marks, strict=True)),
        {Path(path): marked[path] for path in data},
        {label: marked[label].decode() for label in prompts},
    )


def _choose(files: AgentFiles, paths: Iterable[str]) -> Iterator[str]:
    """Yield the files with instructions, by their names and by the settings of agents."""
    patterns = [
        posixpath.normpath(name)
        for reading in filter(None, (profile.reading_list for profile in NAMED_PROFILES))
        for path in reading.files
        for name in files.read_list(f"{files.root}/{path}", reading.keys, reading.format) or ()
    ]
    for path in paths:
        name = posixpath.relpath(path, files.root)
        if is_instruction_file(name) or _is_listed(name, patterns):
            yield path


def _is_listed(name: str, patterns: Collection[str]) -> bool:
    """Return whether settings name a file, its folder, a pattern of it, or it in any folder."""
    return any(
        fnmatchcase(name, pattern) or name.startswith(f"{pattern}/") or name.endswith(f"/{pattern}")
        for pattern in patterns
    )
