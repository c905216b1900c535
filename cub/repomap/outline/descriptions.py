"""From what a file says of its folder to the few words that tell something new.

What the folders and the project are, in the words of their own files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from cub.repomap.outline.description_sources import (
    DOC_EXTRACTORS,
    MANIFEST_NAMES,
    extract_manifest_description,
)
from cub.repomap.outline.readme_text import (
    extract_comment_paragraph,
    extract_first_paragraph,
    extract_opening_paragraph,
    extract_title,
    is_boilerplate,
    strip_markup,
    take_first_sentence,
    take_sentences,
)
from cub.repomap.safe_text import truncate_text
from cub.repomap.stack.facts import ReadFile

MAX_DESCRIPTION_CHARS = 60
_ITSELF = (
    r"(?i)^(?:(?:this|the)\s+(?:\S+\s+)?|here\s+)(?:(?:sub-?)?package|module|crate|gem|folder|directory"
    r"|library|namespace|file|project|app|application|component|plugin|example|template|starter)(?:'s)?\s+"
)
_SELF = re.compile(
    rf"{_ITSELF}(?:is|provides?|contains?|implements?|defines?|holds?|includes?|houses?|offers?)\s+"
)
_DOES = re.compile(rf"{_ITSELF}(?=[a-z]{{3,}}s\s)")
_THIS = re.compile(r"^This is (?=an?\s|the\s)")
_IS = r"(?:is|provides|implements|contains|defines|holds)\s+"
_GO = re.compile(rf"^[Pp]ackage\s+(?:\w+\s+)?{_IS}")
_OPEN = re.compile(r",?\s+(?:such as|including|like|e\.g\.?|namely)$")  # a list came behind it
_ARTICLE = re.compile(r"^(?:an?|the|all|all the|all of the)\s+", re.IGNORECASE)
_EMPTY = frozenset({
    "a", "an", "and", "app", "code", "common", "containing", "contains", "copyright",
    "directory", "file", "files", "folder", "for", "from", "function", "functions", "in",
    "init", "is", "its", "library", "main", "module", "modules", "of", "on", "package",
    "packages", "project", "python", "related", "root", "source", "sources", "src", "stuff",
    "sub", "subpackage", "submodule", "test", "tests", "testing", "that", "the", "this", "to",
    "unit", "various", "with", "go", "rust", "javascript", "typescript", "java", "readme",
    "overview", "description", "introduction", "provide", "provides", "example", "examples",
    "sample", "samples",
})  # fmt: skip
_CLAUSE = re.compile(
    r";\s| \(| [-\u2013\u2014]+ |:\s|,\s(?=which|such|including|with|using|e\.g|i\.e|so\b)"
)


def condense_description(text: str, folder: str, project: str = "") -> str:
    """The first sentence of `text` about a folder of this name, in few words; "" if it is empty.

    What the name of the folder and the one of the project say needs no repeating.
    """
    said = take_first_sentence(extract_comment_paragraph(text))
    if is_boilerplate(said):
        return ""
    name = folder.rpartition("/")[2]
    named = [_of(name)] if name.lower() in said.lower() else []
    for pattern in (*named, _GO, _SELF, _DOES, _THIS):
        bare = pattern.sub("", said, count=1)
        if bare != said:
            said = _ARTICLE.sub("", bare)
    return _clause(_OPEN.sub("", said)) if _tells(said, f"{project}/{folder}") else ""


def _of(name: str) -> re.Pattern[str]:
    """A start that says nothing but the name."""
    name = re.escape(name)
    return re.compile(
        rf"(?i)^(?:{name}(?:\s+is\s+|\s*[-\u2013\u2014:]+\s+)|package\s+{name}\s+(?:{_IS})?)"
    )


def _tells(said: str, names: str) -> bool:
    """Whether there are words that the names do not say."""
    known = _EMPTY | {word.rstrip("s") for word in _words(names)}
    new = [word for word in _words(said) if word not in _EMPTY and word.rstrip("s") not in known]
    return bool(new) and (len(said) > 3 or not said.isascii())


def _words(text: str) -> list[str]:
    parts = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W_]+", parts)]


def _clause(text: str) -> str:
    """`text` up to the end of a clause or word, where it is too long."""
    if len(text) <= MAX_DESCRIPTION_CHARS:
        return text
    ends = [
        end.start()
        for end in _CLAUSE.finditer(text)
        if MAX_DESCRIPTION_CHARS * 0.4 < end.start() <= MAX_DESCRIPTION_CHARS
    ]
    return text[: ends[-1]] if ends else truncate_text(text, MAX_DESCRIPTION_CHARS)


_FOLDERS = 200  # so many are described at most: the topmost and largest ones
_START = 4_096  # bytes of a file; of a README at the root, more
_README_START = 32_768
_GO_FILES = 3  # the comment may stand in any file of a package
_SUMMARY = 200
_WORDS = 6  # of a manifest; where there are fewer, the README may say more
_FACES = (
    *MANIFEST_NAMES,
    *("__init__.py", "doc.go", "mod.rs", "lib.rs", "main.rs", "package-info.java"),
    *("index.ts", "index.js", "mod.ts"),
)
_README = ("readme.md", "readme.rst", "readme.txt", "readme.adoc", "readme.markdown", "readme")


def describe_folders(paths: frozenset[str], read: ReadFile) -> dict[str, str]:
    """Few words on each folder whose files say what it is, by the folder's path."""
    folders = _folders(paths)
    faces = {path: faces for path in folders if (faces := _faces(path, folders[path]))}
    counts = _counts(folders)
    chosen = sorted(faces, key=lambda path: (path.count("/"), -counts[path], path))[:_FOLDERS]
    project = _title(paths, read)
    said = {path: _first(path, faces[path], read, project) for path in sorted(chosen)}
    whole = condense_description(summarize_project(paths, read), "")
    return _without_repeats({path: text for path, text in said.items() if text not in {"", whole}})


def _without_repeats(said: Mapping[str, str]) -> dict[str, str]:
    """What is said of several folders tells nothing of any, unless one has all the others in it."""
    first: dict[str, str] = {}
    for path, text in said.items():
        first.setdefault(text, path)
    apart = {t for p, t in said.items() if p != first[t] and not p.startswith(first[t] + "/")}
    return {
        path: text
        for path, text in said.items()
        if first[text] == path and text not in apart and not _is_inner(path, said)
    }


def _is_inner(path: str, said: Mapping[str, str]) -> bool:
    """Whether it is the `src` of a package that is described itself."""
    above, _, name = path.rpartition("/")
    return name in {"src", "lib"} and above in said


def summarize_project(paths: frozenset[str], read: ReadFile) -> str:
    """What the project is, in a sentence or two of its own; "" if no file says it."""
    root = sorted(path for path in paths if "/" not in path)
    said = ""
    for name in MANIFEST_NAMES:
        words = extract_manifest_description(name, _text(name, read, None)) if name in root else ""
        said = said or words
    if len(said.split()) < _WORDS:
        said = _readme_words(root, read) or said
    return truncate_text(take_sentences(strip_markup(said), _SUMMARY), _SUMMARY)


def _readme_words(names: list[str], read: ReadFile) -> str:
    for name in _readmes(names):
        said = extract_first_paragraph(_text(name, read, _README_START))
        if said:
            return said
    return ""


def _title(paths: frozenset[str], read: ReadFile) -> str:
    """The heading of the project's README."""
    names = _readmes(sorted(path for path in paths if "/" not in path))
    return next(filter(None, (extract_title(_text(name, read)) for name in names)), "")


def _readmes(names: list[str]) -> list[str]:
    found = [name for name in names if name.lower() in _README]
    return sorted(found, key=lambda name: (_README.index(name.lower()), name))


def _folders(paths: frozenset[str]) -> dict[str, list[str]]:
    """The names of the files right in each folder but the root and hidden ones."""
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        if folder and not (path.startswith(".") or "/." in path):
            folders.setdefault(folder, []).append(name)
    return folders


def _counts(folders: Mapping[str, list[str]]) -> Counter[str]:
    """How many files are in each folder and below."""
    counts: Counter[str] = Counter()
    for folder, names in folders.items():
        place = folder
        for _ in range(40):
            counts[place] += len(names)
            place = place.rpartition("/")[0]
            if not place:
                break
    return counts


def _faces(folder: str, names: list[str]) -> list[str]:
    """The files that may say what the folder is, the most telling ones first."""
    there = frozenset(names)
    own = f"{folder.rpartition('/')[2]}.go"
    first = [
        name
        for name in (*_FACES[: len(MANIFEST_NAMES)], *_FACES[len(MANIFEST_NAMES) :], own)
        if name in there
    ]
    go = [name for name in names if name.endswith(".go") and not name.endswith("_test.go")]
    others = [name for name in go[:_GO_FILES] if name not in first]
    return [*first, *others, *_readmes(names)]


def _first(folder: str, names: list[str], read: ReadFile, project: str) -> str:
    texts = (
        condense_description(_said(f"{folder}/{name}", name, read), folder, project)
        for name in names
    )
    return next(filter(None, texts), "")


def _said(path: str, name: str, read: ReadFile) -> str:
    if name in MANIFEST_NAMES:
        return extract_manifest_description(name, _text(path, read, None))
    text = _text(path, read)
    if name.lower() in _README:
        return extract_opening_paragraph(text) or extract_title(text)
    return DOC_EXTRACTORS[name.rpartition(".")[2]](text)


def _text(path: str, read: ReadFile, most: int | None = _START) -> str:
    try:
        data = read(path)[:most]
    except OSError:
        return ""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
