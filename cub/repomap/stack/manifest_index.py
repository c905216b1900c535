"""Find the manifests among a project's paths, by their names alone, and who reads them.

The rows of `manifests.toml` say which files are manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase, translate
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from cub.repomap.data import load_table
from cub.repomap.listing.file_kinds import FileClassifier, FileKind
from cub.repomap.stack.facts import Fact, ProjectCommand, ProjectPackage, iter_row_commands
from cub.repomap.stack.formats import (
    MAX_KEY_CHARS,
    find_first,
    iter_code_lines,
    list_tree_values,
    parse_json,
    parse_toml,
    strip_comments,
)
from cub.repomap.stack.manifest import Manifest, ManifestReader
from cub.repomap.stack.yaml_reader import read_yaml_scalars

MAX_MANIFESTS = 300
_TEMPLATES = re.compile(r"templates?(?:[-_].*)?|skeletons?|scaffold(?:s|ing)?|.*\{\{.*")


class ManifestMatch(NamedTuple):
    """Name a manifest and those who can read it, by their index among all readers."""

    path: str
    readers: tuple[int, ...]


def find_manifests(paths: Iterable[str], readers: Sequence[ManifestReader]) -> list[ManifestMatch]:
    """Return the manifests among the paths: shallow ones first, then by the order of the readers.

    A glob with a folder in it (".github/workflows/*.yml") matches in that very folder only. Other
    manifests count unless they are in a hidden folder, or in one of tests, examples,
    documentation, templates, or somebody else's code.
    """
    globs = [translate(glob) for reader in readers for glob in reader.globs]
    any_glob, classifier = re.compile("|".join(globs)), FileClassifier(())
    # Most paths match none.
    candidates = [p for p in paths if any_glob.match(p) or any_glob.match(p.rpartition("/")[2])]
    matches = (_match_path(path, readers, classifier) for path in set(candidates))
    return sorted(
        (match for match in matches if match.readers),
        key=lambda match: (match.path.count("/"), match.readers, match.path),
    )


def _match_path(
    path: str, readers: Sequence[ManifestReader], classifier: FileClassifier
) -> ManifestMatch:
    """Return the path with the readers that have a glob that matches it, if it counts for any."""
    folder = path.rpartition("/")[0]
    matching = [
        (number, glob)
        for number, reader in enumerate(readers)
        for glob in reader.globs
        if _fits(path, glob)
    ]
    is_fixed = not folder or any("/" in glob for _, glob in matching)
    counts = is_fixed or _is_source_folder(folder, classifier)
    return ManifestMatch(path, tuple(dict.fromkeys(n for n, _ in matching)) if counts else ())


def _is_source_folder(folder: str, classifier: FileClassifier) -> bool:
    if any(name[0:1] == "." or _TEMPLATES.fullmatch(name) for name in folder.split("/")):
        return False
    return classifier.classify(f"{folder}/manifest") is FileKind.SOURCE


def _fits(path: str, glob: str) -> bool:
    if "/" not in glob:
        return fnmatchcase(path.rpartition("/")[2], glob)
    return path.count("/") == glob.count("/") and fnmatchcase(path, glob)


@cache
def load_readers() -> tuple[ManifestReader, ...]:
    """Return one reader for each row of the table; the facts of the first row count first."""
    rows = load_table("manifests")["manifests"]
    return tuple(ManifestReader(_list_globs(row), partial(_read_by_row, row)) for row in rows)


def _list_globs(row: Mapping[str, Any]) -> list[str]:
    if "folders" in row:
        return [f"{folder}/{name}" for folder in row["folders"] for name in row["names"]]
    globs: list[str] = row["globs"]
    return globs


def _read_by_row(row: Mapping[str, Any], manifest: Manifest) -> Iterator[Fact]:
    """Yield the facts of a manifest; the module that reads it is imported here."""
    text = strip_comments(manifest.text, row["comment"]) if "comment" in row else manifest.text
    if not re.search(row.get("needs", ""), text):
        return
    if "tool" in row:
        from cub.repomap.stack.readers.python_tools import list_tools

        yield from list_tools(manifest, [row["tool"]])
    yield from _find_facts(row, manifest, text)
    is_part = "unless_above" in row and manifest.exists_above(*row["globs"])
    if not is_part and ("beside" not in row or manifest.find_beside(row["beside"])):
        yield from _list_commands(row, manifest)
    if "entry_point" in row:
        yield manifest.make_entry_point(row["entry_point"], manifest.path)
    if "read" in row:
        module, _, function = row["read"].partition(".")
        reader = getattr(import_module(f"cub.repomap.stack.readers.{module}"), function)
        yield from reader(manifest)


def _list_commands(row: Mapping[str, Any], manifest: Manifest) -> Iterator[ProjectCommand]:
    program = manifest.choose_program(*row["programs"]) if "programs" in row else ""
    for purpose, text in iter_row_commands(row):
        # A file that is fixed to a place below the root is for the root.
        folder = "" if "/" in row["globs"][0] else manifest.folder
        line = text.replace("{program}", program)
        if "{prefix}" in line:  # to know it, all folders above are looked at
            line = line.replace("{prefix}", manifest.python_prefix)
        yield ProjectCommand(purpose, line, manifest.path, folder)


def _find_facts(row: Mapping[str, Any], manifest: Manifest, text: str) -> Iterator[Fact]:
    """Yield the technology of a row with its version, and what the lines of the text name."""
    lines = _list_values(row["tree"], text) if "tree" in row else list(iter_code_lines(text))
    version, name, description = (
        find_first(re.compile("|".join(row.get(key, ()))), lines)
        for key in ("version", "name", "description")
    )
    if "technology" in row and (version or not row.get("required")):
        yield manifest.make_technology(row["technology"], row["role"], version)
    for ecosystem, patterns in row.get("packages", {}).items():
        matches = [one for line in lines for one in re.finditer("|".join(patterns), line)]
        packages = [(match[1], "".join(filter(None, match.groups()[1:]))) for match in matches]
        yield from manifest.find_known(ecosystem, packages)
    if name:
        yield manifest.make_package(name, description)
    for entry in re.finditer(row["entries"], "\n".join(lines)) if "entries" in row else ():
        yield manifest.make_entry_point(entry["name"], entry["target"])
    yield from _find_members(row, manifest, lines)


def _find_members(
    row: Mapping[str, Any], manifest: Manifest, lines: Sequence[str]
) -> Iterator[ProjectPackage]:
    for manifest_name, patterns in row.get("workspaces", {}).items():
        globs = filter(None, map(re.compile("|".join(patterns)).match, lines))
        yield from manifest.make_members([glob[1] for glob in globs], manifest_name)
    if "members" in row:
        for member in filter(None, map(re.compile(row["members"]).match, lines)):
            folder = manifest.resolve_path(member["folder"])
            if folder and folder != manifest.folder:
                yield manifest.make_member(folder, member["name"])


def _list_values(form: str, text: str) -> list[str]:
    """Return each value of a file as a line with its keys: `sdk.version = 8.0.100`."""
    if form == "yaml":
        scalars = read_yaml_scalars(text)
        rows = [(".".join(key[:MAX_KEY_CHARS] for key in keys), value) for keys, value in scalars]
    else:
        rows = list_tree_values(parse_toml(text) if form == "toml" else parse_json(text))
    return [f"{path} = {' '.join(value.split())}" for path, value in rows]
