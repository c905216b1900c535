"""Describe folders and the project in a few words of their own files."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate

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
from cub.repomap.stack.formats import get_text_at

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
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
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
    whole = [
        head
        for head in heads
        if len(head) > limit * 0.2 and all(head.count(a) == head.count(b) for a, b in _BRACKETS)
    ]
    return f"{whole[-1]}…" if whole else truncate_text(text, limit)


# Comments, encodings and blank lines before a docstring, then its quotes.
_DOCSTRING = re.compile(
    r"\A(?:\s|#[^\n]*\n)*+[rRuUbB]?(\"\"\"|'''|\"|')(.*?)(?:(?<!\\)\1|\Z)", re.DOTALL
)
_GO_LINES = re.compile(r"((?:^//[^\n]*\n)+)package\s", re.MULTILINE)
_GO_BLOCK = re.compile(r"/\*(.*?)\*/\s*package\s", re.DOTALL)
_RUST_LINES = re.compile(r"\A(?:\s|//(?!!)[^\n]*\n|#!\[[^\]]*\])*+((?:[ \t]*//![^\n]*\n?)+)")
_RUST_BLOCK = re.compile(r"\A(?:\s|//[^\n]*\n)*+/\*!(.*?)\*/", re.DOTALL)
_JAVADOC = re.compile(r"/\*\*(.*?)\*/\s*+(?:@[^\n]*\n\s*+)*+package\s", re.DOTALL)
_BLOCK = re.compile(r"/\*\*(.*?)\*/", re.DOTALL)
_TAG = re.compile(
    r"^[ \t*]*@(?:file(?:overview)?|packageDocumentation|module)\b[ \t]*", re.MULTILINE
)
# What comes before the text of a comment's lines, and lines that are no prose.
_NOTHING = re.compile(r"(?!)")
_SLASHES = re.compile(r"^//(?:(?:go:|\s*\+build|nolint).*\n| ?)", re.MULTILINE)
_BANGS = re.compile(r"^[ \t]*//! ?", re.MULTILINE)
_STARS = re.compile(r"^\s*\*+ ?", re.MULTILINE)
# By the ending of a file: what finds its comment, in the last group, and what is to be removed.
_COMMENTS = {
    "py": ((_DOCSTRING, _NOTHING),),
    "go": ((_GO_LINES, _SLASHES), (_GO_BLOCK, _NOTHING)),
    "rs": ((_RUST_LINES, _BANGS), (_RUST_BLOCK, _STARS)),
    "java": ((_JAVADOC, _STARS),),
}


def _extract_comment(ending: str, text: str) -> str:
    """Return what a source file says of its package; of a script, what is marked to say it."""
    if ending in ("ts", "js"):
        blocks = (block[1] for block in _BLOCK.finditer(text) if _TAG.search(block[1]))
        return _TAG.sub("", _STARS.sub("", next(blocks, "")))
    for pattern, rest in _COMMENTS[ending]:
        if match := pattern.search(text):
            return rest.sub("", match[pattern.groups])
    return ""


_MAX_MANIFEST_CHARS = 262_144
_MAX_TEXT_CHARS = 2_000  # no description is a text to search through
# Where the description is, outermost key first; the first string counts.
_KEYS = {
    "package.json": (("description",),),
    "pyproject.toml": (("project", "description"), ("tool", "poetry", "description")),
    "Cargo.toml": (("package", "description"),),
    "composer.json": (("description",),),
    "deno.json": (("description",),),
}


def _extract_manifest_description(name: str, text: str) -> str:
    """Return the description in the manifest of this name; "" if it has none, or is invalid."""
    if "description" not in text or len(text) > _MAX_MANIFEST_CHARS:
        return ""
    try:
        tree = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    texts = (get_text_at(tree, *keys)[:_MAX_TEXT_CHARS] for keys in _KEYS[name])
    return next(filter(None, texts), "")


_MAX_FOLDERS = 200  # the topmost and largest ones
_MAX_LEVELS = 40  # to count files in
_MAX_BYTES = 4_096
_MAX_README_BYTES = 32_768  # of the one at the root
_MAX_GO_FILES = 3  # the comment may be in any file of a package
_MAX_SUMMARY_CHARS = 200
_MIN_WORDS = 6  # if a manifest has fewer, the README may say more
# Files that may say what their folder is, the most telling ones first.
_TELLING_FILES = (
    *_KEYS,
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
    readmes = _list_readmes(sorted(path for path in paths if "/" not in path))
    titles = (extract_title(read_start(name, read)) for name in readmes)
    project = next(filter(None, titles), "")
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
        if first[text] == folder
        and text not in ambiguous
        # The `src` of a package is what the package is.
        and not (folder.endswith(("/src", "/lib")) and folder[:-4] in descriptions)
    }


def summarize_project(paths: frozenset[str], read: ReadFile) -> str:
    """Return what the project says it is, in one or two sentences; "" if no file says it."""
    names = sorted(path for path in paths if "/" not in path)
    summary = ""
    for name in _KEYS:
        text = read_start(name, read, None) if name in names else ""
        summary = summary or _extract_manifest_description(name, text)
    if len(summary.split()) < _MIN_WORDS:
        texts = (read_start(name, read, _MAX_README_BYTES) for name in _list_readmes(names))
        summary = next(filter(None, map(extract_first_paragraph, texts)), summary)
    sentences = take_sentences(strip_markup(summary), _MAX_SUMMARY_CHARS)
    return _shorten_sentence(sentences, _MAX_SUMMARY_CHARS)


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
        for above in accumulate(folder.split("/")[:_MAX_LEVELS], "{}/{}".format):
            counts[above] += len(names)
    return counts


def _list_telling_files(folder: str, names: list[str]) -> list[str]:
    own = f"{folder.rpartition('/')[2]}.go"
    first = [name for name in (*_TELLING_FILES, own) if name in frozenset(names)]
    go = [name for name in names if name.endswith(".go") and not name.endswith("_test.go")]
    others = [name for name in go[:_MAX_GO_FILES] if name not in first]
    return [*first, *others, *_list_readmes(names)]


def _describe_folder(folder: str, names: list[str], read: ReadFile, project: str) -> str:
    for name in names:
        text = read_start(f"{folder}/{name}", read, None if name in _KEYS else _MAX_BYTES)
        if name in _KEYS:
            text = _extract_manifest_description(name, text)
        elif name.lower() in _README:
            text = extract_opening_paragraph(text) or extract_title(text)
        else:
            text = _extract_comment(name.rpartition(".")[2], text)
        if description := condense_description(text, folder, project):
            return description
    return ""


def read_start(path: str, read: ReadFile, most: int | None = _MAX_BYTES) -> str:
    """Return the text of a file; of a longer one, the lines that are whole in `most` bytes."""
    try:
        data = read(path)
    except OSError:
        return ""
    start = data[:most]
    text = start.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return text if len(start) == len(data) else text.rpartition("\n")[0] or text
