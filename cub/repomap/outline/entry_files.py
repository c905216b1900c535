"""The files that entry points start at, found by what a manifest says or by their names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from cub.repomap.listing.kinds import Kind, Kinds
from cub.repomap.stack.facts import EntryPoint

# Where a build puts what it makes of src/.
_BUILT = re.compile(r"^(?:dist|lib|build|out|es|esm|cjs|output)/(?:(?:es|esm|cjs|umd)/)?")
_SCRIPTS = (".ts", ".tsx", ".mts", ".js", ".mjs", ".cts", ".jsx", ".cjs")
_IN_FOLDER = (
    *("__main__.py", "__init__.py", "main.go", "main.rs", "lib.rs", "mod.rs"),
    *(f"index{ending}" for ending in _SCRIPTS),
)
_OBJECT = re.compile(r"[A-Za-z_][\w.-]*(?::[\w.]+)?(?:\s*\[.*\])?")
_ROOTS = ("", "src/", "lib/", "python/", "app/")
_CLASSES = (".java", ".kt", ".scala", ".groovy", ".cs")
_NAMED = re.compile(
    r"(?:[\w-]+/){0,3}(?:__main__|manage)\.py|(?:[a-z][\w-]*/)?(?:wsgi|asgi)\.py"
    r"|(?:cmd/[^/]+/|(?!scripts|tools|hack|gen)[\w-]+/)?main\.go|(?:[\w-]+/){0,2}(?:src/)?main\.rs"
    r"|(?:.*/)?(?:Program\.cs|Main\.(?:java|kt|scala|hs)|[A-Z]\w*Application\.(?:java|kt)"
    r"|MainActivity\.(?:java|kt)|AppDelegate\.swift|[A-Z]\w*App\.swift)"
    r"|(?:[\w-]+/)?main\.(?:swift|dart|zig|c|cc|cpp|cxx|lua)|src/server\.c|config\.ru"
    r"|(?:src/|app/|server/|client/|lib/)?(?:main|index|server|app|cli)\.(?:[cm]?[jt]sx?|py|rb|php|exs?)"
    r"|(?:[\w-]+/)?src/(?:main|index|App)\.(?:[jt]sx?|vue|svelte)|App\.(?:[jt]sx?|vue|svelte)"
    r"|(?:src/)?app/(?:layout|page)\.[jt]sx?|public/index\.php"
)
# What a library lets others use, where no program begins.
_FACES = re.compile(
    r"(?:(?:src|lib|python)/)?[a-zA-Z]\w*/__init__\.py|lib/[\w-]+\.(?:rb|ex)|mod\.ts|(?:[\w-]+/){0,2}src/lib\.rs"
)
_MOST = 8
_FEW = 3


def entry_file(entry: EntryPoint, paths: frozenset[str]) -> str:
    """The path of the file that an entry point starts at; "" if there is none of that name."""
    folder = posixpath.dirname(entry.source)
    return next((path for path in _candidates(entry.target, folder) if path in paths), "")


def _candidates(target: str, folder: str) -> Iterator[str]:
    base = target.strip().removeprefix("./")
    for place in dict.fromkeys((folder, "")):
        yield from _as_path(base, place)
        if _OBJECT.fullmatch(base):
            yield from _as_object(base.partition(":")[0].partition("[")[0].strip(), place)


def _as_path(target: str, folder: str) -> Iterator[str]:
    path = posixpath.normpath(posixpath.join(folder, target))
    yield path
    yield from (f"{path}/{name}" if path != "." else name for name in _IN_FOLDER)
    stem, ending = posixpath.splitext(target)
    stems = [_BUILT.sub(by, stem) for by in ("src/", "")] if _BUILT.match(stem) else [stem]
    for inner in stems:
        at = posixpath.normpath(posixpath.join(folder, inner))
        yield from (at + script for script in _SCRIPTS if not ending or ending in _SCRIPTS)


def _as_object(name: str, folder: str) -> Iterator[str]:
    """The places of a Python module, or of a class on the JVM."""
    parts = name.replace(".", "/")
    for root in _ROOTS:
        stem = posixpath.join(folder, root + parts)
        yield from (f"{stem}.py", f"{stem}/__main__.py", f"{stem}/__init__.py")
    for ending in _CLASSES:
        kind = {".kt": "kotlin", ".cs": ""}.get(ending, ending[1:])
        yield posixpath.join(folder, f"src/main/{kind}/{parts}{ending}")
        yield posixpath.join(folder, f"src/main/java/{parts}{ending}")


def named_entries(paths: Sequence[str], kinds: Kinds) -> list[str]:
    """The source files whose names say that a program begins there, the topmost ones first."""
    return _topmost(_NAMED, paths, kinds)[:_MOST]


def faces(paths: Sequence[str], kinds: Kinds) -> list[str]:
    """The source files that have what a library offers, where their names say so."""
    found = _topmost(_FACES, paths, kinds)
    return found if len(found) <= _FEW else []


def _topmost(pattern: re.Pattern[str], paths: Sequence[str], kinds: Kinds) -> list[str]:
    found = [path for path in paths if pattern.fullmatch(path) and kinds.of(path) is Kind.SOURCE]
    return sorted(found, key=lambda path: (path.count("/"), path))
