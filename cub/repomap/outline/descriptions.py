"""Describe folders and the project in a few words of their own files."""

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

MAX_DESCRIPTION_CHARS = 120  # of 344 first sentences of 15 repositories, 332 have no more
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
_LIST_START = re.compile(r",?\s+(?:such as|including|like|e\.g\.?|namely)$")  # before a list
_ARTICLE = re.compile(r"^(?:an?|the|all|all the|all of the)\s+", re.IGNORECASE)
_EMPTY_WORDS = frozenset({
    "a", "an", "and", "app", "code", "common", "containing", "contains", "copyright",
    "directory", "file", "files", "folder", "for", "from", "function", "functions", "in",
    "init", "is", "its", "library", "main", "module", "modules", "of", "on", "package",
    "packages", "project", "python", "related", "root", "source", "sources", "src", "stuff",
    "sub", "subpackage", "submodule", "test", "tests", "testing", "that", "the", "this", "to",
    "unit", "various", "with", "go", "rust", "javascript", "typescript", "java", "readme",
    "overview", "description", "introduction", "provide", "provides", "example", "examples",
    "sample", "samples",
})  # fmt: skip
_CLAUSE_END = re.compile(
    r";\s| \(| [-\u2013\u2014]+ |:\s|,\s(?=which|such|including|with|using|e\.g|i\.e|so\b)"
)


def condense_description(text: str, folder: str, project: str = "") -> str:
    """Return the first sentence of `text` about this folder, in few words.

    Return "" if it only says what the names of the folder and the project say.
    """
    sentence = take_first_sentence(extract_comment_paragraph(text))
    if is_boilerplate(sentence):
        return ""
    name = folder.rpartition("/")[2]
    own = [_compile_name_start(name)] if name.lower() in sentence.lower() else []
    for pattern in (*own, _GO, _SELF, _DOES, _THIS):
        bare = pattern.sub("", sentence, count=1)
        if bare != sentence:
            sentence = _ARTICLE.sub("", bare)
    if not _is_informative(sentence, f"{project}/{folder}"):
        return ""
    return _shorten_sentence(_LIST_START.sub("", sentence), MAX_DESCRIPTION_CHARS)


def _compile_name_start(name: str) -> re.Pattern[str]:
    """Compile the pattern of a start that says only the name."""
    name = re.escape(name)
    return re.compile(
        rf"(?i)^(?:{name}(?:\s+is\s+|\s*[-\u2013\u2014:]+\s+)|package\s+{name}\s+(?:{_IS})?)"
    )


def _is_informative(sentence: str, names: str) -> bool:
    old = _EMPTY_WORDS | {word.rstrip("s") for word in _split_words(names)}
    words = [word for word in _split_words(sentence) if word not in _EMPTY_WORDS]
    has_new = any(word.rstrip("s") not in old for word in words)
    return has_new and (len(sentence) > 3 or not sentence.isascii())


def _split_words(text: str) -> list[str]:
    parts = re.sub(r"([a-z\d])([A-Z])", r"\1 \2", text)
    return [word.lower() for word in re.findall(r"[^\W_]+", parts)]


def _shorten_sentence(text: str, limit: int) -> str:
    """Return a sentence, or its start up to a clause or else a word, with `…`."""
    if len(text) <= limit:
        return text
    heads = [text[: match.start()] for match in _CLAUSE_END.finditer(text, 0, limit)]
    whole = [head for head in heads if len(head) > limit * 0.2 and _is_balanced(head)]
    return f"{whole[-1]}…" if whole else truncate_text(text, limit)


def _is_balanced(text: str) -> bool:
    return all(text.count(opening) == text.count(end) for opening, end in ("()", "[]", "{}"))


_MAX_FOLDERS = 200  # the topmost and largest ones
_MAX_BYTES = 4_096
_MAX_README_BYTES = 32_768  # of the one at the root
_MAX_GO_FILES = 3  # the comment may be in any file of a package
_MAX_SUMMARY_CHARS = 200
_MIN_WORDS = 6  # if a manifest has fewer, the README may say more
# Files that may say what their folder is, the most telling ones first.
_TELLING_FILES = (
    *MANIFEST_NAMES,
    *("__init__.py", "doc.go", "mod.rs", "lib.rs", "main.rs", "package-info.java"),
    *("index.ts", "index.js", "mod.ts"),
)
_README = ("readme.md", "readme.rst", "readme.txt", "readme.adoc", "readme.markdown", "readme")


def describe_folders(paths: frozenset[str], read: ReadFile) -> dict[str, str]:
    """Return a few words on each folder whose files say what it is, by the folder's path."""
    names_by_folder = _group_by_folder(paths)
    files = {
        folder: telling
        for folder, names in names_by_folder.items()
        if (telling := _list_telling_files(folder, names))
    }
    counts = _count_files(names_by_folder)
    order = sorted(files, key=lambda folder: (folder.count("/"), -counts[folder], folder))
    project = _read_title(paths, read)
    descriptions = {
        folder: _describe_folder(folder, files[folder], read, project)
        for folder in sorted(order[:_MAX_FOLDERS])
    }
    summary = condense_description(summarize_project(paths, read), "")
    return _drop_repeated(
        {f: text for f, text in descriptions.items() if text not in {"", summary}}
    )


def _drop_repeated(descriptions: Mapping[str, str]) -> dict[str, str]:
    """Drop a text that several folders have, unless all are in one of them."""
    first: dict[str, str] = {}
    for folder, text in descriptions.items():
        first.setdefault(text, folder)
    ambiguous = {
        text
        for folder, text in descriptions.items()
        if folder != first[text] and not folder.startswith(first[text] + "/")
    }
    return {
        folder: text
        for folder, text in descriptions.items()
        if first[text] == folder and text not in ambiguous and not _is_inner(folder, descriptions)
    }


def _is_inner(folder: str, descriptions: Mapping[str, str]) -> bool:
    """Return whether a folder is the `src` of a package that has a description."""
    above, _, name = folder.rpartition("/")
    return name in {"src", "lib"} and above in descriptions


def summarize_project(paths: frozenset[str], read: ReadFile) -> str:
    """Return what the project says it is, in one or two sentences; "" if no file says it."""
    names = sorted(path for path in paths if "/" not in path)
    summary = ""
    for name in MANIFEST_NAMES:
        text = _read_text(name, read, None) if name in names else ""
        summary = summary or extract_manifest_description(name, text)
    if len(summary.split()) < _MIN_WORDS:
        texts = (_read_text(name, read, _MAX_README_BYTES) for name in _list_readmes(names))
        summary = next(filter(None, map(extract_first_paragraph, texts)), summary)
    sentences = take_sentences(strip_markup(summary), _MAX_SUMMARY_CHARS)
    return _shorten_sentence(sentences, _MAX_SUMMARY_CHARS)


def _read_title(paths: frozenset[str], read: ReadFile) -> str:
    names = _list_readmes(sorted(path for path in paths if "/" not in path))
    return next(filter(None, (extract_title(_read_text(name, read)) for name in names)), "")


def _list_readmes(names: list[str]) -> list[str]:
    readmes = [name for name in names if name.lower() in _README]
    return sorted(readmes, key=lambda name: (_README.index(name.lower()), name))


def _group_by_folder(paths: frozenset[str]) -> dict[str, list[str]]:
    """Return the names of the files right in each folder except the root and hidden ones."""
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        if folder and not (path.startswith(".") or "/." in path):
            folders.setdefault(folder, []).append(name)
    return folders


def _count_files(names_by_folder: Mapping[str, list[str]]) -> Counter[str]:
    """Count the files in each folder and below."""
    counts: Counter[str] = Counter()
    for folder, names in names_by_folder.items():
        above = folder
        for _ in range(40):
            counts[above] += len(names)
            above = above.rpartition("/")[0]
            if not above:
                break
    return counts


def _list_telling_files(folder: str, names: list[str]) -> list[str]:
    own = f"{folder.rpartition('/')[2]}.go"
    first = [name for name in (*_TELLING_FILES, own) if name in frozenset(names)]
    go = [name for name in names if name.endswith(".go") and not name.endswith("_test.go")]
    others = [name for name in go[:_MAX_GO_FILES] if name not in first]
    return [*first, *others, *_list_readmes(names)]


def _describe_folder(folder: str, names: list[str], read: ReadFile, project: str) -> str:
    for name in names:
        text = _read_text(f"{folder}/{name}", read, None if name in MANIFEST_NAMES else _MAX_BYTES)
        if name in MANIFEST_NAMES:
            text = extract_manifest_description(name, text)
        elif name.lower() in _README:
            text = extract_opening_paragraph(text) or extract_title(text)
        else:
            text = DOC_EXTRACTORS[name.rpartition(".")[2]](text)
        if description := condense_description(text, folder, project):
            return description
    return ""


def _read_text(path: str, read: ReadFile, most: int | None = _MAX_BYTES) -> str:
    """Return the text of a file; of a longer one, the lines that are whole in `most` bytes."""
    try:
        data = read(path)
    except OSError:
        return ""
    start = data[:most]
    text = start.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return text if len(start) == len(data) else text.rpartition("\n")[0] or text
