"""Find the texts that agents may read in a project, and mark each of them."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from cub.actions.agent_context import list_context_sources
from cub.actions.agents.text_marks import Mark, UnmarkedText, mark_texts
from cub.actions.managed_files import CONSTITUTION, MAP
from cub.actions.section_specs import AGENTS, CLAUDE
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.config_edit.string_list import ListLocation, read_string_list
from cub.edit.document import MAX_BYTES, Document
from cub.edit.file_imports import find_imports
from cub.errors import CubError
from cub.project.project import Project
from cub.project.rule_locations import is_instruction_file

_PROMISED_FILES = (AGENTS, CLAUDE)  # with what they import


class MarkedText(NamedTuple):
    """Hold a text by the names of the files that have it; the first one is at `path`.

    `path` is relative to the project; "" for a prompt. `is_promised`: a run hands it over if the
    agent does not load it. Without `marks`, it can't be told from others.
    """

    labels: tuple[str, ...]
    path: str
    text: str
    is_promised: bool
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
    found = _find_files(project, paths)
    files = {path: found[path] for path in found if path.resolve().is_relative_to(base)}
    rows = [
        *_list_sources(project, files),
        *((MarkedText((label,), "", text, True), UnmarkedText(label, (text,), text))
          for label, text in prompts.items()),
    ]  # fmt: skip
    data = {path.as_posix(): path.read_bytes() for path in {path.resolve(): None for path in files}}
    plain = {label: text.encode() for label, text in prompts.items()}
    marked, marks = mark_texts(data | plain, [source for _, source in rows])
    texts = [text._replace(marks=own) for (text, _), own in zip(rows, marks, strict=True)]
    return MarkedProject(
        tuple(_join_equal(texts)),
        {Path(name): marked[name] for name in data},
        {label: marked[label].decode() for label in prompts},
    )


def _list_sources(
    project: Project, files: Mapping[Path, bool]
) -> Iterator[tuple[MarkedText, UnmarkedText]]:
    """Yield the texts that each agent should have, and then the files with others."""
    sources = list_context_sources(project, "nothing")
    names = (*_PROMISED_FILES, CONSTITUTION, MAP, *(source.path for source in sources))
    passed = {(project.root / name).resolve() for name in names}
    for source in sources:
        text = MarkedText((source.label,), source.path, source.text, True)
        yield text, UnmarkedText(source.path, source.variants, source.missing)
    for path, is_promised in files.items():
        real = path.resolve()
        if real not in passed:
            passed.add(real)
            name = Path(os.path.relpath(path, project.root)).as_posix()
            body = real.read_bytes().decode("utf-8-sig", "replace")
            if all("@" in line for line in filter(str.strip, body.splitlines())):
                continue  # it only imports others
            yield (
                MarkedText((name,), name, body, is_promised),
                UnmarkedText(real.as_posix(), (body,), body),
            )


def _join_equal(texts: Iterable[MarkedText]) -> Iterator[MarkedText]:
    """Yield texts, those with the same marks as one: they are equal."""
    joined: dict[object, MarkedText] = {}
    for number, text in enumerate(texts):
        key = tuple(mark.word for mark in text.marks) or number
        first = joined.setdefault(key, text)
        if first is not text:
            labels = (*first.labels, *text.labels)
            promised = first.is_promised or text.is_promised
            joined[key] = first._replace(labels=labels, is_promised=promised)
    yield from joined.values()


def _find_files(project: Project, paths: Iterable[Path]) -> dict[Path, bool]:
    """Return the files with instructions, and what they import; True for what a run promises."""
    patterns = list(_list_patterns(project))
    promised = [project.root / name for name in (*_PROMISED_FILES, CONSTITUTION, MAP)]
    waiting = [(path, True) for path in promised]
    for path in paths:
        name = Path(os.path.relpath(path, project.root)).as_posix()
        if is_instruction_file(name) or _is_listed(name, patterns):
            waiting.append((path, False))
    files: dict[Path, bool] = {}
    while waiting:
        path, is_promised = waiting.pop(0)
        if path not in files and path.is_file() and path.stat().st_size <= MAX_BYTES:
            files[path] = is_promised
            waiting += ((one, is_promised) for one in _list_imports(path))
    return files


def _list_imports(path: Path) -> Iterator[Path]:
    """Yield what a file imports, from its own folder, and from the one of what it is a link to."""
    for name in sorted(find_imports(Document(path.read_bytes()).text)):
        if not name.startswith(("/", "~")) and "\0" not in name:
            for folder in dict.fromkeys((path.parent, path.resolve().parent)):
                yield Path(os.path.normpath(folder / name))


def _list_patterns(project: Project) -> Iterator[str]:
    """Yield what agents' settings name: files, folders, patterns, and names for any folder."""
    for reading in filter(None, (profile.reading_list for profile in NAMED_PROFILES)):
        for path in reading.files:
            try:
                data = project.tree.read(path)
                location = ListLocation(path, reading.keys, reading.format)
                names = read_string_list(data, location) or () if data else ()
            except CubError:
                continue
            yield from (posixpath.normpath(name) for name in names)


def _is_listed(name: str, patterns: Collection[str]) -> bool:
    return any(
        fnmatchcase(name, pattern) or name.startswith(f"{pattern}/") or name.endswith(f"/{pattern}")
        for pattern in patterns
    )
