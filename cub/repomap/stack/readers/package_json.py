"""Where a package of JavaScript starts: its programs, and the module that others import.

What a package.json says that the package needs, and what of it has a name in the map.

package.json: the package, what it needs, its scripts, its programs and its workspaces.

What one types for a tool that a package has installed, where no script does it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import build_target_commands, detect_command_purpose
from cub.repomap.stack.facts import (
    CommandPurpose,
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_beside,
    find_workspace_members,
    match_siblings,
    resolve_manifest_path,
)
from cub.repomap.stack.readers.node_package_manager import (
    NodePackageManager,
    detect_node_package_manager,
)

_BUILT = re.compile(r"^(?:\./)?(?:dist|lib|build|out|output|esm?|cjs|bin)/(?:(?:esm?|cjs|src)/)?")
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_ENDINGS = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs")
_MOST_PROGRAMS = 12


def find_entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    """Those whose file is in the project; for a built file, the one that it is built from."""
    name = get_text_at(tree, "name")
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
    return [(key, value) for key, value in as_table(listed).items() if isinstance(value, str)]


def _faces(tree: dict[str, Any]) -> Iterator[str]:
    """The files that the package may be imported by, in the order of trust."""
    for listed in (tree.get("exports"), get_value_at(tree, "exports", ".")):
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
        listed = next((v for c in conditions if (v := as_table(listed).get(c))), None)


def _source(manifest: Manifest, target: str) -> str:
    """The path of the file in the project, "" if there is none."""
    places = [target, _ENDING.sub("", target)]
    bare = _BUILT.sub("", places[1])
    for folder in ("src/", "", "source/"):
        places += [f"{folder}{bare}{ending}" for ending in _ENDINGS]
    places += [f"{places[1]}{ending}" for ending in _ENDINGS]
    places += [f"{target.rstrip('/')}/index{ending}" for ending in _ENDINGS]
    paths = (resolve_manifest_path(manifest, place) for place in places if len(place) < 200)
    return next((path for path in paths if path in manifest.paths), "")


_VERSION = re.compile(r"[\^~<>=v\d][\w.<>=~^|*+ -]*")
_AT_RUN_TIME = ("dependencies", "peerDependencies")
# What turns into plain JavaScript at build time stands among what developers need.
_COMPILED = frozenset(
    {"Svelte", "SvelteKit", "Astro", "Nuxt", "VitePress", "Docusaurus", "Electron"}
)


def list_dependency_technologies(tree: dict[str, Any], source: str) -> Iterator[Technology]:
    """The known packages. Of what only developers need, the tools; and all, in a private package,
    which is a program of its own.
    """
    found = find_known_technologies("npm", _listed(tree, *_AT_RUN_TIME), source)
    yield from found
    private = tree.get("private") is True and not as_table(tree.get("workspaces"))
    for one in find_known_technologies("npm", _listed(tree, "devDependencies"), source):
        if one.role in ("build", "tool") or private or one.name in _COMPILED:
            yield one


def get_dependency_versions(tree: dict[str, Any]) -> dict[str, str]:
    """All packages that are needed, for whatever purpose, with their versions."""
    return dict(_listed(tree, "devDependencies", *_AT_RUN_TIME))


def _listed(tree: dict[str, Any], *keys: str) -> Iterator[tuple[str, str]]:
    for key in keys:
        for name, wanted in as_table(tree.get(key)).items():
            version = wanted if isinstance(wanted, str) and len(wanted) <= 40 else ""
            yield name, version if _VERSION.fullmatch(version) else ""


# The package, what one types, and the files of which one must be there, if any.
_TOOLS: tuple[tuple[CommandPurpose, str, str, tuple[str, ...]], ...] = (
    ("test", "vitest", "vitest run", ()),
    ("test", "jest", "jest", ()),
    ("test", "mocha", "mocha", ()),
    ("test", "ava", "ava", ()),
    ("lint", "@biomejs/biome", "biome check", ("biome.json", "biome.jsonc")),
    ("lint", "oxlint", "oxlint", ()),
    ("lint", "eslint", "eslint .", ("eslint.config.*", ".eslintrc*")),
    ("format", "prettier", "prettier --write .", (".prettierrc*", "prettier.config.*")),
    ("typecheck", "vue-tsc", "vue-tsc --noEmit", ("tsconfig.json",)),
    ("typecheck", "svelte-check", "svelte-check", ()),
    ("typecheck", "typescript", "tsc --noEmit", ("tsconfig.json",)),
)


def infer_tool_commands(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[ProjectCommand]:
    """One command for each purpose that an installed and configured tool has."""
    installed = get_dependency_versions(tree)
    done: set[CommandPurpose] = set()
    for purpose, package, line, files in _TOOLS:
        if purpose in done or package not in installed:
            continue
        if not files or find_beside(manifest, *files) or match_siblings(manifest, *files):
            done.add(purpose)
            typed = f"{manager.exec_prefix} {line}"
            yield ProjectCommand(purpose, typed, manifest.path, manifest.folder)


# Scripts that the manager runs by itself, at moments of its own.
_HOOKS = frozenset({
    "prepare", "prepublish", "prepublishonly", "prepack", "postpack", "preinstall", "install",
    "postinstall", "preversion", "version", "postversion", "dependencies",
})  # fmt: skip


def _read(manifest: Manifest) -> ManifestFacts:
    tree = parse_json(manifest.text)
    manager = detect_node_package_manager(manifest, get_text_at(tree, "packageManager"))
    return ManifestFacts(
        tuple(_technologies(tree, manager, manifest)),
        tuple(_commands(tree, manager, manifest)),
        tuple(find_entry_points(tree, manifest)),
        tuple(_packages(tree, manifest)),
    )


def _technologies(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[Technology]:
    source = manifest.path
    typescript = get_dependency_versions(tree).get("typescript")
    if typescript is not None:
        yield Technology("TypeScript", "language", typescript, source)
    if not get_text_at(tree, "engines", "vscode"):
        yield Technology("Node.js", "runtime", get_text_at(tree, "engines", "node"), source)
    else:
        yield Technology(
            "VS Code extension", "framework", get_text_at(tree, "engines", "vscode"), source
        )
    yield from list_dependency_technologies(tree, source)
    if manager.is_explicit or not exists_above(manifest, "package.json"):
        yield Technology(manager.display_name, "manager", manager.version, source)


def _commands(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[ProjectCommand]:
    scripts = _scripts(tree)
    targets = build_target_commands(manifest, scripts, manager.format_run_command)
    if not exists_above(manifest, "package.json"):
        typed = f"{manager.name} install"
        yield ProjectCommand("install", typed, manifest.path, manifest.folder, "target")
    yield from targets
    done = {one.purpose for one in targets}
    for command in infer_tool_commands(tree, manager, manifest):
        if command.purpose not in done:
            yield command


def _scripts(tree: dict[str, Any]) -> dict[str, str]:
    """The scripts that somebody types: no hooks, and not the placeholder of `npm init`.

    To `check` can mean anything, so what such a script runs has to tell.
    """
    found = {k: v for k, v in as_table(tree.get("scripts")).items() if isinstance(v, str)}
    if detect_command_purpose(found.get("check", "")) is None:
        found.pop("check", None)
    return {name: line for name, line in found.items() if not _is_hook(name, found)}


def _is_hook(name: str, scripts: dict[str, str]) -> bool:
    around = (name.removeprefix(start) for start in ("pre", "post") if name.startswith(start))
    empty = "no test specified" in scripts[name]
    return name.lower() in _HOOKS or empty or any(other in scripts for other in around)


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    yield ProjectPackage(
        manifest.folder, get_text_at(tree, "name"), get_text_at(tree, "description"), manifest.path
    )
    listed = tree.get("workspaces")
    globs = as_texts(listed) or as_texts(get_value_at(listed, "packages"))
    for folder in find_workspace_members(manifest, globs, "package.json"):
        yield ProjectPackage(folder, "", "", manifest.path)


READERS = (ManifestReader(("package.json",), _read),)
