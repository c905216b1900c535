"""List the texts that a project has for agents, and the bytes of its files that hold each."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from cub.actions.managed_files import CONSTITUTION, INLINED_FILES, MAP
from cub.actions.section_specs import AGENTS, CLAUDE, ROOT_FILES
from cub.actions.text_matching import split_paragraphs
from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.claude import CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE, list_rules
from cub.agent_profiles.codex import CODEX_OVERRIDE
from cub.edit.document import Document
from cub.edit.file_header import strip_file_header
from cub.edit.file_imports import find_imports, inline_file
from cub.edit.sections import Section, find_section
from cub.errors import CubError
from cub.files.file_tree import DiskTree
from cub.project.instruction_files import SHARED_WORDS, follow_flattened_link
from cub.project.project import Project, find_home

SECTION_LABEL = "managed section"
_OWN_FILES = (CLAUDE_FOLDER_FILE, CLAUDE_LOCAL_FILE, CODEX_OVERRIDE)
_RULES = ".claude/rules"
# A list of imports in a section, and the sentence above it that asks to open them.
_REFERENCES = re.compile(r"^(?:[^\n#-][^\n]*:\n\n)?(?:- [^\n]*: @\S+(?:\n|\Z))+\n?", re.MULTILINE)
_MAX_IMPORTED = 100  # files


class TextPart(NamedTuple):
    """Locate a text in the file at an absolute path, by ranges of its bytes."""

    path: str
    data: bytes
    ranges: tuple[tuple[int, int], ...]

    def cut(self, start: int, end: int) -> str:
        """Return what of the text is between two offsets of the file; "" if only blanks."""
        pieces = (self.data[max(first, start) : min(last, end)] for first, last in self.ranges)
        texts = (piece.decode("utf-8-sig", "replace").replace("\r\n", "\n") for piece in pieces)
        return "\n\n".join(text.strip("\n") for text in texts if text.strip())

    @property
    def text(self) -> str:
        """Return the whole text, with LF line endings."""
        return self.cut(0, len(self.data))


class ProjectText(NamedTuple):
    """Hold a text for agents, and the parts of files that say it, the first one in `path`.

    All but the first may say it in words of their own. `imports` are the words in it that import
    another one of the texts. `is_promised`: a run hands it over if the agent does not load it.
    """

    label: str
    path: str
    parts: tuple[TextPart, ...]
    imports: frozenset[str] = frozenset()
    is_promised: bool = True

    @property
    def variants(self) -> tuple[str, ...]:
        """Return the text in the words of each part."""
        return tuple(part.text for part in self.parts)

    def strip_imports(self, words: str) -> str:
        """Return words of the text without imports of what is a text itself: it would come twice.

        Of a section, the whole list of imports goes.
        """
        if self.label == SECTION_LABEL:
            words = _REFERENCES.sub("", words)
        for name in sorted(self.imports, key=len, reverse=True):
            path = rf"(?:\./)?{re.escape(name)}(?![^\s])"
            words = re.sub(rf"^[ \t]*@{path}[ \t]*$", "", words, flags=re.MULTILINE)
            words = re.sub(rf"(?<![\w.])@(?={path})", "", words)
        return words.strip("\n")


def open_agent_files(project: Project, environ: Mapping[str, str], folder: str = "") -> AgentFiles:
    """Return the files that an agent can load that is started in a folder of a project.

    Without a HOME in `environ`, the user's own don't count.
    """
    root = project.root.as_posix()
    outside, home = DiskTree(Path(project.root.anchor)), find_home()
    # It belongs to all projects, and is no file of a directory above this one.
    is_left_out = home is not None and "HOME" not in environ
    ignored = frozenset([(home / CLAUDE_FOLDER_FILE).as_posix()] if home and is_left_out else ())
    return AgentFiles(project.tree, root, folder, outside, environ, ignored=ignored)


def list_project_texts(project: Project, folder: str = "") -> list[ProjectText]:
    """Return the texts of a project, each once; with a folder, also those of the files in it.

    A text that another file has in the same words is one text.
    """
    files = open_agent_files(project, {}, folder)
    headings = _find_inlined_headings(project, files)
    texts = [*_list_root_texts(files, headings), *_list_nested_texts(files)]
    known = {files.identify(part.path) for text in texts for part in text.parts}
    known |= _identify(files, (*ROOT_FILES, CONSTITUTION, MAP))
    return _join_equal_texts(_add_imports(files, texts, known))


def list_readable_texts(
    project: Project, paths: Collection[str], chosen: Iterable[str]
) -> list[ProjectText]:
    """Return the texts of a project, and others that agents may read, which no run promises.

    These are in the `chosen` ones of `paths`, and in those that any text imports.
    """
    files, texts = open_agent_files(project, {}), list_project_texts(project)
    known = {files.identify(part.path) for text in texts for part in text.parts}
    known |= _identify(files, (AGENTS, CLAUDE, CONSTITUTION, MAP))
    imports = (one for text in texts for one in _list_imports(files, text.parts[0], paths))
    others = []
    for path in (*chosen, *(target for _, target in imports)):
        if (identity := files.identify(path)) not in known and files.read(path):
            known.add(identity)
            others.append(_read_text(files, path)._replace(is_promised=False))
    return _join_equal_texts([*texts, *_add_imports(files, others, known, paths)])


class _RootFile(NamedTuple):
    """Hold an instruction file: what the user wrote, and what cub did.

    `shared` is None if the section has no text for all agents; `inlined` is by path.
    """

    path: str
    own: TextPart
    shared: TextPart | None = None
    inlined: Mapping[str, TextPart] = {}


def _list_root_texts(files: AgentFiles, headings: Mapping[str, bytes]) -> Iterator[ProjectText]:
    roots = list(_iter_files(files, [*ROOT_FILES, *_OWN_FILES], headings))
    for root in roots:
        yield ProjectText(f"{root.path} (yours)", root.path, (root.own,))
    for path in list_rules(files, f"{files.root}/{_RULES}"):
        yield _read_text(files, path, Document(files.read(path)).head_size)
    shared = [root.shared for root in roots if root.shared]
    if shared:
        yield ProjectText(SECTION_LABEL, files.shorten(shared[0].path), tuple(shared))
    for path in (CONSTITUTION, MAP):
        data = strip_file_header(files.read(f"{files.root}/{path}"))
        if data.strip():
            whole = TextPart(f"{files.root}/{path}", data, ((0, len(data)),))
            inlined = (root.inlined[path] for root in roots if path in root.inlined)
            yield ProjectText(path, path, (whole, *inlined))


def _list_nested_texts(files: AgentFiles) -> Iterator[ProjectText]:
    """Yield the user's texts in the instruction files between the root and the folder."""
    folders = [files.shorten(folder) for folder in files.list_folders(files.root)[1:]]
    names = (*ROOT_FILES, CODEX_OVERRIDE, CLAUDE_LOCAL_FILE)
    paths = [f"{folder}/{name}" for folder in folders for name in names]
    for file in _iter_files(files, paths, {}):
        yield ProjectText(f"{file.path} (yours)", file.path, (file.own,))


def _iter_files(
    files: AgentFiles, paths: Iterable[str], headings: Mapping[str, bytes]
) -> Iterator[_RootFile]:
    """Yield each file once, under its first name; nothing for one that cub could not edit."""
    passed = set()

    def read(path: str) -> bytes:
        return files.read(f"{files.root}/{path}")

    for path in paths:
        data, identity = read(path), files.identify(f"{files.root}/{path}")
        is_link = follow_flattened_link(path, read, ROOT_FILES) != path
        if not data or is_link or identity in passed:
            continue
        passed.add(identity)
        try:
            document = Document.parse(data, path)
            section = find_section(document)
        except CubError:
            document, section = Document(data, path), None
        yield _split_file(document, section, f"{files.root}/{path}", headings)


def _split_file(
    document: Document, section: Section | None, full: str, headings: Mapping[str, bytes]
) -> _RootFile:
    data, path = document.data, document.path
    if section is None:
        return _RootFile(path, TextPart(full, data, ((0, len(data)),)))
    start = len(document.get_bytes_before(section.start))
    end = len(document.get_bytes_before(section.end))
    own = TextPart(full, data, ((0, start), (end, len(data))))
    body_end = end - len(document.lines[section.end - 1])
    body = max(start, body_end - len(b"".join(section.body)))
    found = {name: _find_line(data, headings[name], body, body_end) for name in headings}
    starts = sorted(at for at in found.values() if at >= 0)
    ends = dict(zip(starts, (*starts, body_end)[1:], strict=True))
    inlined = {
        name: TextPart(full, data, ((at, ends[at]),)) for name, at in found.items() if at >= 0
    }
    words = (body, min(starts, default=body_end))
    is_shared = SHARED_WORDS in data[slice(*words)]
    return _RootFile(path, own, TextPart(full, data, (words,)) if is_shared else None, inlined)


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
        data = files.read(f"{files.root}/{path}") if name in project.config.inline else b""
        try:
            text = inline_file(data, path, title) if data else ""
        except CubError:
            continue
        if text:
            headings[path] = text.partition("\n")[0].encode()
    return headings


def _identify(files: AgentFiles, paths: Iterable[str]) -> set[Hashable]:
    return {files.identify(f"{files.root}/{path}") for path in paths}


def _read_text(files: AgentFiles, path: str, start: int = 0) -> ProjectText:
    """Return the text of a file, from an offset."""
    data, name = files.read(path), posixpath.relpath(path, files.root)
    return ProjectText(name, name, (TextPart(path, data, ((start, len(data)),)),))


def _add_imports(
    files: AgentFiles,
    texts: Sequence[ProjectText],
    known: set[Hashable],
    allowed: Collection[str] | None = None,
) -> list[ProjectText]:
    """Return texts with what they import, each a text of its own unless it is known."""
    found: list[ProjectText] = []
    todo = [*texts]
    while todo and len(found) < len(texts) + _MAX_IMPORTED:
        text = todo.pop(0)
        words = set()
        for word, target in _list_imports(files, text.parts[0], allowed):
            words.add(word)
            if (identity := files.identify(target)) not in known:
                known.add(identity)
                todo.append(_read_text(files, target)._replace(is_promised=text.is_promised))
        found.append(text._replace(imports=frozenset(words)))
    return found


def _join_equal_texts(texts: Iterable[ProjectText]) -> list[ProjectText]:
    """Return each text once, and none that only imports others."""
    joined: dict[tuple[str, ...], ProjectText] = {}
    for text in texts:
        paragraphs = split_paragraphs(text.strip_imports(text.parts[0].text))
        key = tuple(paragraph.words for paragraph in paragraphs)
        if key in joined:
            joined[key] = joined[key]._replace(parts=(*joined[key].parts, *text.parts))
        elif key:
            joined[key] = text
    return list(joined.values())


def _list_imports(
    files: AgentFiles, part: TextPart, allowed: Collection[str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the files of the project that a text imports, each with its words.

    Only `allowed` files count, if there are some: those are found from where a link is, too.
    """
    folders = {posixpath.dirname(files.resolve(part.path)): None}
    folders |= {posixpath.dirname(part.path): None} if allowed is not None else {}
    names = sorted(find_imports(part.text))
    for name, folder in ((name, folder) for name in names for folder in folders):
        target = files.join(folder, name.partition("#")[0])
        is_open = files.is_below(target, files.root) if allowed is None else target in allowed
        data = files.read(target) if is_open else b""
        if data and b"\0" not in data:
            yield name, target
