"""Find the texts that agents may read in a project, and mark each of them."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from cub.actions.agents.text_marks import Mark, UnmarkedText, mark_texts
from cub.actions.project_texts import list_readable_texts, open_agent_files
from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.project.project import Project
from cub.project.rule_locations import is_instruction_file


class MarkedText(NamedTuple):
    """Hold a text, the first file that has it, relative to the project, and its marks.

    `path` is "" for a prompt. `is_promised`: a run hands it over if the agent does not load it.
    Without `marks`, it can't be told from others.
    """

    label: str
    path: str
    text: str
    is_promised: bool = True
    marks: tuple[Mark, ...] = ()


class MarkedProject(NamedTuple):
    """Hold the texts, and with the marks in them the files by real path, and the prompts."""

    texts: tuple[MarkedText, ...]
    files: Mapping[Path, bytes]
    prompts: Mapping[str, str]


def mark_project(
    project: Project, base: Path, paths: Iterable[Path], prompts: Mapping[str, str]
) -> MarkedProject:
    """Return a project's texts for agents, and prompts by label, with marks in them.

    `paths` are its files, and those above it that agents may read. No other file counts that is not
    below `base`.
    """
    files = open_agent_files(project, {})
    readable = [path.as_posix() for path in paths if path.resolve().is_relative_to(base)]
    chosen = list(_choose(files, readable))
    found = list_readable_texts(project, frozenset(readable), chosen)
    paths_of_texts = [*chosen, *(part.path for text in found for part in text.parts)]
    real = sorted(set(map(files.resolve, paths_of_texts)))
    data = {path: files.read(path) for path in real if files.is_below(path, base.as_posix())}
    unmarked = [
        UnmarkedText(
            files.resolve(text.parts[0].path), text.variants, text.strip_imports(text.variants[0])
        )
        for text in found
    ]
    unmarked += [UnmarkedText(label, (text,), text) for label, text in prompts.items()]
    plain = {label: text.encode() for label, text in prompts.items()}
    marked, marks = mark_texts(data | plain, unmarked)
    texts = [MarkedText(one.label, one.path, one.variants[0], one.is_promised) for one in found]
    texts += [MarkedText(label, "", text) for label, text in prompts.items()]
    return MarkedProject(
        tuple(text._replace(marks=own) for text, own in zip(texts, marks, strict=True)),
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
