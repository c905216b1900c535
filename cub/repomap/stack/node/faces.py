"""Where a package of JavaScript starts: its programs, and the module that others import."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import path_of
from cub.repomap.stack.facts import EntryPoint, Manifest
from cub.repomap.stack.formats.trees import at, table, text_at

_BUILT = re.compile(r"^(?:\./)?(?:dist|lib|build|out|output|esm?|cjs|bin)/(?:(?:esm?|cjs|src)/)?")
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_ENDINGS = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs")
_MOST_PROGRAMS = 12


def entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    """Those whose file is in the project; for a built file, the one that it is built from."""
    name = text_at(tree, "name")
    for program, target in _programs(tree, name)[:_MOST_PROGRAMS]:
        path = _source(manifest, target)
        if path:
            yield EntryPoint(program, path, manifest.path)
    faces = (path for target in _faces(tree) if (path := _source(manifest, target)))
    face = next(faces, "")
    if name and face:
        yield EntryPoint(name, face, manifest.path)


def _programs(tree: dict[str, Any], name: str) -> list[tuple[str, str]]:
    listed = tree.get("bin")
    if isinstance(listed, str):
        return [(name.rpartition("/")[2], listed)]
    return [(key, value) for key, value in table(listed).items() if isinstance(value, str)]


def _faces(tree: dict[str, Any]) -> Iterator[str]:
    """The files that the package may be imported by, in the order of trust."""
    for listed in (tree.get("exports"), at(tree, "exports", ".")):
        yield from _first(listed)
    for key in ("module", "main", "types"):
        if isinstance(tree.get(key), str):
            yield tree[key]
    if "exports" in tree or "main" in tree:
        yield "src/index.js"
    elif tree.get("private") is not True:
        yield "index.js"


def _first(listed: object) -> Iterator[str]:
    """The file of an export with conditions, at most three levels deep."""
    for _ in range(3):
        if isinstance(listed, str):
            yield listed
            return
        conditions = ("source", "import", "node", "default", "require", "types")
        listed = next((v for c in conditions if (v := table(listed).get(c))), None)


def _source(manifest: Manifest, target: str) -> str:
    """The path of the file in the project, "" if there is none."""
    places = [target, _ENDING.sub("", target)]
    bare = _BUILT.sub("", places[1])
    for folder in ("src/", "", "source/"):
        places += [f"{folder}{bare}{ending}" for ending in _ENDINGS]
    places += [f"{places[1]}{ending}" for ending in _ENDINGS]
    places += [f"{target.rstrip('/')}/index{ending}" for ending in _ENDINGS]
    paths = (path_of(manifest, place) for place in places if len(place) < 200)
    return next((path for path in paths if path in manifest.paths), "")
