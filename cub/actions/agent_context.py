"""Count how often each text for agents reaches an agent by itself, and render what it misses.

The texts are the user's own parts of AGENTS.md and CLAUDE.md, cub's managed section, the
constitution, and the map. Each should reach a model once, whichever agent it is.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cub.actions.managed_files import CONSTITUTION, INLINED_FILES, MAP
from cub.actions.section_specs import GEMINI, ROOT_FILES
from cub.edit.document import Document
from cub.edit.file_header import strip_file_header
from cub.edit.file_imports import inline_file
from cub.edit.sections import Section, find_section
from cub.errors import CubError
from cub.files import DiskTree
from cub.project.agent_reading import (
    NAMED_READINGS,
    AgentFiles,
    AgentReading,
    LoadedFile,
    find_agent_reading,
    find_claude_above,
    list_loaded_files,
)
from cub.project.instruction_files import SHARED_WORDS, follow_flattened_link
from cub.project.project import Project, find_home
from cub.tokens import estimate_tokens

SECTION_LABEL = "managed section"
_PREFACE = (
    "These are instructions of this project. Follow them as if you had opened their files,\n"
    "and do not open these files again."
)
_OWN_PATH = r"(?:\./)?(?:(?:AGENTS|CLAUDE)\.md|\.cub/(?:constitution|map)\.md)"
_OWN_IMPORT = re.compile(rf"(?<![\w.])@(?={_OWN_PATH})")
_OWN_IMPORT_LINE = re.compile(rf"^[ \t]*@{_OWN_PATH}[ \t]*$", re.MULTILINE)
# A list of imports in a section, and the sentence above it that asks to open them.
_REFERENCES = re.compile(r"^(?:[^\n#-][^\n]*:\n\n)?(?:- [^\n]*: @\S+(?:\n|\Z))+\n?", re.MULTILINE)


@dataclass(frozen=True)
class ContextSource:
    """Describe one text for agents: what it says, and how often an agent loads it by itself.

    `missing` is what the agent has to be given to have the whole text once: all of it, the end
    behind the agent's limit, or "". Files may say the same in words of their own: `variants` has
    all of them.
    """

    label: str
    path: str
    text: str
    times: int
    missing: str
    variants: tuple[str, ...] = ()

    @cached_property
    def tokens(self) -> int:
        """Return what the whole text costs a model to read."""
        return estimate_tokens(self.text)

    @property
    def is_cut(self) -> bool:
        """Tell whether the agent loads only the beginning of the text."""
        return self.times > 0 and bool(self.missing)


def list_context_sources(
    project: Project, agent: str, *, version: tuple[int, ...] = (), home: Path | None = None
) -> list[ContextSource]:
    """Return the texts that a project has for agents, and how often this agent loads each.

    `agent` is a name in the table of `cub.project.agent_reading`; an empty `version` is its newest
    one. `home` has the user's own settings; with None, only the project's count.
    """
    files = _open_files(project, home, version)
    loads: dict[Hashable, list[LoadedFile]] = defaultdict(list)
    for file in list_loaded_files(find_agent_reading(agent), files):
        loads[files.identify(file.path)].append(file)
    return [_count_loads(text, loads) for text in _list_texts(project, files)]


def list_loading_agents(project: Project) -> dict[str, tuple[AgentReading, ...]]:
    """Return the known agents that load each text by themselves, in their newest versions.

    By path: of the instruction files at the root, of the constitution and of the map; for the last
    two, a section with their text counts. Users' own settings don't count.
    """
    files = _open_files(project, find_home())._replace(home=None)
    identities = {path: {files.identify(path)} for path in files.paths}
    for text in _list_texts(project, files):
        if text.path not in ROOT_FILES:
            identities[text.path] |= {part.identity for part in text.parts}
    loads = {
        reading: {files.identify(file.path) for file in list_loaded_files(reading, files)}
        for reading in NAMED_READINGS
    }
    return {
        path: tuple(reading for reading in loads if loads[reading] & identities[path])
        for path in files.paths
    }


def render_missing_context(sources: Iterable[ContextSource]) -> str:
    """Return what an agent has to be given so that it has each text once; "" if nothing."""
    blocks = [_render_block(source) for source in sources if source.missing]
    return "\n\n".join((_PREFACE, *blocks)) + "\n" if blocks else ""


def _render_block(source: ContextSource) -> str:
    name = "cub" if source.label == SECTION_LABEL else source.path
    part = ' part="rest"' if source.is_cut else ""
    return f'<instructions file="{name}"{part}>\n{source.missing}\n</instructions>'


def _open_files(project: Project, home: Path | None, version: tuple[int, ...] = ()) -> AgentFiles:
    paths = (*ROOT_FILES, CONSTITUTION, MAP)
    has_claude_above = find_claude_above(project.root, home) is not None
    tree = DiskTree(home) if home else None
    return AgentFiles(project.tree, paths, tree, version, has_claude_above)


class _Part(NamedTuple):
    """Locate a text in a file by ranges of its bytes; `identity` is the file's."""

    identity: Hashable
    data: bytes
    ranges: tuple[tuple[int, int], ...]

    def cut(self, start: int, end: int) -> str:
        """Return what of the text is between two offsets of the file; "" if only blanks."""
        pieces = (self.data[max(first, start) : min(last, end)] for first, last in self.ranges)
        texts = (piece.decode("utf-8-sig", "replace").replace("\r\n", "\n") for piece in pieces)
        return "\n\n".join(text.strip("\n") for text in texts if text.strip())


class _Text(NamedTuple):
    """Hold a text and the files that have it, the first one by `path`."""

    label: str
    path: str
    parts: Sequence[_Part]


class _RootFile(NamedTuple):
    """Hold an instruction file at the root: what the user wrote, and what cub did.

    `shared` is None if the section has no text for all agents; `inlined` is by path.
    """

    path: str
    own: _Part
    shared: _Part | None
    inlined: Mapping[str, _Part]


def _count_loads(text: _Text, loads: Mapping[Hashable, list[LoadedFile]]) -> ContextSource:
    """Count the loads of a text's files; of one that is loaded once, return the rest as missing.

    A line that the limit cuts counts as not loaded, so the rest begins with it.
    """
    first, times, rest = text.parts[0], 0, ""
    pairs = [(part, file) for part in text.parts for file in loads[part.identity]]
    for part, file in pairs:
        size = len(part.data)
        is_whole = file.max_bytes is None or file.max_bytes >= size
        end = size if is_whole else part.data.rfind(b"\n", 0, file.max_bytes) + 1
        if part.cut(0, end):
            times, rest = times + 1, part.cut(end, size)
    whole = first.cut(0, len(first.data))
    missing = whole if times == 0 else rest if times == 1 else ""
    if text.label == SECTION_LABEL:
        missing = _REFERENCES.sub("", missing)
    variants = tuple(part.cut(0, len(part.data)) for part in text.parts)
    return ContextSource(text.label, text.path, whole, times, _disarm_imports(missing), variants)


def _disarm_imports(text: str) -> str:
    """Return a text without imports of what is a source itself: it would arrive twice."""
    return _OWN_IMPORT.sub("", _OWN_IMPORT_LINE.sub("", text)).strip("\n")


def _list_texts(project: Project, files: AgentFiles) -> Iterator[_Text]:
    roots = list(_iter_root_files(files, _find_inlined_headings(project, files)))
    for root in roots:
        text = root.own.cut(0, len(root.own.data))
        if root.path != GEMINI and _disarm_imports(text).strip():
            yield _Text(f"{root.path} (yours)", root.path, [root.own])
    shared = {root.path: root.shared for root in roots if root.shared}
    if shared:
        yield _Text(SECTION_LABEL, next(iter(shared)), [*shared.values()])
    for path in (CONSTITUTION, MAP):
        data = strip_file_header(files.read(path))
        if data.strip():
            whole = _Part(files.identify(path), data, ((0, len(data)),))
            inlined = (root.inlined[path] for root in roots if path in root.inlined)
            yield _Text(path, path, [whole, *inlined])


def _iter_root_files(files: AgentFiles, headings: Mapping[str, bytes]) -> Iterator[_RootFile]:
    """Yield each file once, under its first name; nothing for one that cub could not edit."""
    passed: set[Hashable] = set()
    for path in ROOT_FILES:
        data, identity = files.read(path), files.identify(path)
        is_link = follow_flattened_link(path, files.read, ROOT_FILES) != path
        if not data or is_link or identity in passed:
            continue
        passed.add(identity)
        try:
            document = Document.parse(data, path)
            section = find_section(document)
        except CubError:
            document, section = Document(data, path), None
        yield _split_file(document, section, identity, headings)


def _split_file(
    document: Document, section: Section | None, identity: Hashable, headings: Mapping[str, bytes]
) -> _RootFile:
    data, path = document.data, document.path
    if section is None:
        return _RootFile(path, _Part(identity, data, ((0, len(data)),)), None, {})
    start = len(document.get_bytes_before(section.start))
    end = len(document.get_bytes_before(section.end))
    own = _Part(identity, data, ((0, start), (end, len(data))))
    body_end = end - len(document.lines[section.end - 1])
    body = max(start, body_end - len(b"".join(section.body)))
    found = {name: _find_line(data, headings[name], body, body_end) for name in headings}
    starts = sorted(at for at in found.values() if at >= 0)
    ends = dict(zip(starts, (*starts, body_end)[1:], strict=True))
    inlined = {
        name: _Part(identity, data, ((at, ends[at]),)) for name, at in found.items() if at >= 0
    }
    words = (body, min(starts, default=body_end))
    is_shared = SHARED_WORDS in data[slice(*words)]
    return _RootFile(path, own, _Part(identity, data, (words,)) if is_shared else None, inlined)


def _find_line(data: bytes, line: bytes, start: int, end: int) -> int:
    """Return the offset of a whole line between two offsets, -1 if it is not there."""
    match = re.compile(rb"^" + re.escape(line) + rb"[ \t]*\r?$", re.MULTILINE).search(
        data, start, end
    )
    return match.start() if match else -1


def _find_inlined_headings(project: Project, files: AgentFiles) -> dict[str, bytes]:
    """Return the first line that each text would have in a section, by path, if it is inlined."""
    headings = {}
    for name, (path, title) in INLINED_FILES.items():
        data = files.read(path) if name in project.config.inline else b""
        try:
            text = inline_file(data, path, title) if data else ""
        except CubError:
            continue
        if text:
            headings[path] = text.partition("\n")[0].encode()
    return headings
