"""What the folders and the project are, in the words of their own files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cub.repomap.outline.comments import DOCS
from cub.repomap.outline.described import in_short
from cub.repomap.outline.manifest_words import MANIFESTS, manifest_words
from cub.repomap.outline.plain import plain, sentences
from cub.repomap.outline.prose import first_paragraph, opening, title
from cub.repomap.outline.words import shortened
from cub.repomap.stack.facts import Read

_FOLDERS = 200  # so many are described at most: the topmost and largest ones
_START = 4_096  # bytes of a file; of a README at the root, more
_README_START = 32_768
_GO_FILES = 3  # the comment may stand in any file of a package
_SUMMARY = 200
_WORDS = 6  # of a manifest; where there are fewer, the README may say more
_FACES = (
    *MANIFESTS,
    *("__init__.py", "doc.go", "mod.rs", "lib.rs", "main.rs", "package-info.java"),
    *("index.ts", "index.js", "mod.ts"),
)
_README = ("readme.md", "readme.rst", "readme.txt", "readme.adoc", "readme.markdown", "readme")


def describe(paths: frozenset[str], read: Read) -> dict[str, str]:
    """Few words on each folder whose files say what it is, by the folder's path."""
    folders = _folders(paths)
    faces = {path: faces for path in folders if (faces := _faces(path, folders[path]))}
    counts = _counts(folders)
    chosen = sorted(faces, key=lambda path: (path.count("/"), -counts[path], path))[:_FOLDERS]
    project = _title(paths, read)
    said = {path: _first(path, faces[path], read, project) for path in sorted(chosen)}
    whole = in_short(summary(paths, read), "")
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


def summary(paths: frozenset[str], read: Read) -> str:
    """What the project is, in a sentence or two of its own; "" if no file says it."""
    root = sorted(path for path in paths if "/" not in path)
    said = ""
    for name in MANIFESTS:
        words = manifest_words(name, _text(name, read, None)) if name in root else ""
        said = said or words
    if len(said.split()) < _WORDS:
        said = _readme_words(root, read) or said
    return shortened(sentences(plain(said), _SUMMARY), _SUMMARY)


def _readme_words(names: list[str], read: Read) -> str:
    for name in _readmes(names):
        said = first_paragraph(_text(name, read, _README_START))
        if said:
            return said
    return ""


def _title(paths: frozenset[str], read: Read) -> str:
    """The heading of the project's README."""
    names = _readmes(sorted(path for path in paths if "/" not in path))
    return next(filter(None, (title(_text(name, read)) for name in names)), "")


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
        for name in (*_FACES[: len(MANIFESTS)], *_FACES[len(MANIFESTS) :], own)
        if name in there
    ]
    go = [name for name in names if name.endswith(".go") and not name.endswith("_test.go")]
    others = [name for name in go[:_GO_FILES] if name not in first]
    return [*first, *others, *_readmes(names)]


def _first(folder: str, names: list[str], read: Read, project: str) -> str:
    texts = (in_short(_said(f"{folder}/{name}", name, read), folder, project) for name in names)
    return next(filter(None, texts), "")


def _said(path: str, name: str, read: Read) -> str:
    if name in MANIFESTS:
        return manifest_words(name, _text(path, read, None))
    text = _text(path, read)
    if name.lower() in _README:
        return opening(text) or title(text)
    return DOCS[name.rpartition(".")[2]](text)


def _text(path: str, read: Read, most: int | None = _START) -> str:
    try:
        data = read(path)[:most]
    except OSError:
        return ""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
