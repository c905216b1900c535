"""Read package.json: the package, what it needs, its scripts, its programs and its workspaces.

If no script does it, `tools.toml` says what to type for a tool that the package has installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cub.repomap.data import load_table
from cub.repomap.stack.command_purposes import build_target_commands, detect_command_purpose
from cub.repomap.stack.facts import (
    EntryPoint,
    Fact,
    ProjectCommand,
    Technology,
    iter_row_commands,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_json
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.readers.node_package_manager import (
    NodePackageManager,
    detect_node_package_manager,
    has_manager_file,
)

_BUILT = re.compile(r"^(?:\./)?(?:dist|lib|build|out|output|esm?|cjs|bin)/(?:(?:esm?|cjs|src)/)?")
_ENDING = re.compile(r"(?:\.d)?\.[cm]?[jt]sx?$")
_ENDINGS = (".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs")
_VERSION = re.compile(r"[\^~<>=v\d][\w.<>=~^|*+ -]*")
_AT_RUN_TIME = ("dependencies", "peerDependencies")
# What is compiled to plain JavaScript is among the dependencies for development.
_COMPILED = frozenset({
    "Svelte", "SvelteKit", "Astro", "Nuxt", "VitePress", "Docusaurus", "Electron",
})  # fmt: skip
_CONDITIONS = ("source", "import", "node", "default", "require", "types")
_MAX_CONDITION_DEPTH = 3
_MAX_PROGRAMS = 12
# Scripts that the manager runs on its own.
_HOOKS = frozenset({
    "prepare", "prepublish", "prepublishonly", "prepack", "postpack", "preinstall", "install",
    "postinstall", "preversion", "version", "postversion", "dependencies",
})  # fmt: skip


def read_package_json(manifest: Manifest) -> Iterator[Fact]:
    """Read a package.json."""
    tree = parse_json(manifest.text)
    manager = detect_node_package_manager(manifest, get_text_at(tree, "packageManager"))
    yield from _list_technologies(tree, manager, manifest)
    yield from _list_commands(tree, manager, manifest)
    yield from _find_entry_points(tree, manifest)
    yield manifest.make_package(get_text_at(tree, "name"), get_text_at(tree, "description"))
    workspaces = tree.get("workspaces")
    globs = as_texts(workspaces) or as_texts(get_value_at(workspaces, "packages"))
    yield from manifest.make_members(globs, "package.json")


def _list_technologies(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[Technology]:
    typescript = _get_versions(tree).get("typescript")
    if typescript is not None:
        yield manifest.make_technology("TypeScript", "language", typescript)
    if editor := get_text_at(tree, "engines", "vscode"):
        yield manifest.make_technology("VS Code extension", "framework", editor)
    else:
        yield manifest.make_technology("Node.js", "runtime", get_text_at(tree, "engines", "node"))
    yield from _list_dependencies(tree, manifest)
    if manager.is_explicit or not manifest.exists_above("package.json"):
        yield manifest.make_technology(manager.row["name"], "manager", manager.version)


def _list_dependencies(tree: dict[str, Any], manifest: Manifest) -> Iterator[Technology]:
    """Yield the known packages that are needed at run time, and the tools of developers.

    A private package is a program of its own: all that it needs counts.
    """
    yield from manifest.find_known("npm", _iter_dependencies(tree, *_AT_RUN_TIME))
    is_program = tree.get("private") is True and not as_table(tree.get("workspaces"))
    development = _iter_dependencies(tree, "devDependencies")
    for technology in manifest.find_known("npm", development):
        is_tool = technology.role in ("build", "tool") or technology.name in _COMPILED
        if is_tool or is_program:
            yield technology


def _get_versions(tree: dict[str, Any]) -> dict[str, str]:
    """Return all packages that are needed, for whatever purpose, with their versions."""
    return dict(_iter_dependencies(tree, "devDependencies", *_AT_RUN_TIME))


def _iter_dependencies(tree: dict[str, Any], *keys: str) -> Iterator[tuple[str, str]]:
    for key in keys:
        for name, value in as_table(tree.get(key)).items():
            version = value if isinstance(value, str) and len(value) <= 40 else ""
            yield name, version if _VERSION.fullmatch(version) else ""


def _list_commands(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[ProjectCommand]:
    targets = build_target_commands(manifest, _get_scripts(tree), manager.format_run_command)
    if has_manager_file(manifest) or not manifest.exists_above("package.json"):
        yield manifest.make_command("install", f"{manager.name} install", "target")
    yield from targets
    purposes = {target.purpose for target in targets}
    for command in _infer_tool_commands(tree, manager, manifest):
        if command.purpose not in purposes:
            yield command


def _get_scripts(tree: dict[str, Any]) -> dict[str, str]:
    """Return the scripts to be typed: no hooks, and not the placeholder of `npm init`.

    To `check` can mean anything, so what such a script runs has to tell.
    """
    table = as_table(tree.get("scripts"))
    scripts = {name: line for name, line in table.items() if isinstance(line, str)}
    if detect_command_purpose(scripts.get("check", "")) is None:
        scripts.pop("check", None)
    return {name: line for name, line in scripts.items() if not _is_hook(name, scripts)}


def _is_hook(name: str, scripts: dict[str, str]) -> bool:
    hooked = (name.removeprefix(start) for start in ("pre", "post") if name.startswith(start))
    is_placeholder = "no test specified" in scripts[name]
    return name.lower() in _HOOKS or is_placeholder or any(other in scripts for other in hooked)


def _infer_tool_commands(
    tree: dict[str, Any], manager: NodePackageManager, manifest: Manifest
) -> Iterator[ProjectCommand]:
    """Yield one command for each purpose that an installed and configured tool has."""
    installed = _get_versions(tree)
    purposes = set()
    for package, row in load_table("tools")["npm"].items():
        files = row.get("files", ())
        if package not in installed:
            continue
        if not files or manifest.find_beside(*files) or manifest.match_siblings(*files):
            for purpose, line in iter_row_commands(row):
                if purpose not in purposes:
                    purposes.add(purpose)
                    yield manifest.make_command(purpose, f"{manager.row['exec']} {line}")


def _find_entry_points(tree: dict[str, Any], manifest: Manifest) -> Iterator[EntryPoint]:
    """Yield those whose file is in the project; for a built file, the one it is built from."""
    name = get_text_at(tree, "name")
    for program, target in _list_programs(tree, name)[:_MAX_PROGRAMS]:
        yield manifest.make_entry_point(program, _find_source(manifest, target))
    sources = (_find_source(manifest, target) for target in _iter_import_targets(tree))
    yield manifest.make_entry_point(name, next(filter(None, sources), ""))


def _list_programs(tree: dict[str, Any], name: str) -> list[tuple[str, str]]:
    programs = tree.get("bin")
    if isinstance(programs, str):
        return [(name.rpartition("/")[2], programs)]
    return [(key, value) for key, value in as_table(programs).items() if isinstance(value, str)]


def _iter_import_targets(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the files that the package may be imported by, in the order of trust."""
    for exports in (tree.get("exports"), get_value_at(tree, "exports", ".")):
        yield from _resolve_conditions(exports)
    for key in ("module", "main", "types"):
        if isinstance(tree.get(key), str):
            yield tree[key]
    if "exports" in tree or "main" in tree:
        yield "src/index.js"
    elif tree.get("private") is not True:
        yield "index.js"


def _resolve_conditions(exports: object) -> Iterator[str]:
    for _ in range(_MAX_CONDITION_DEPTH):
        if isinstance(exports, str):
            yield exports
            return
        table = as_table(exports)
        exports = next((table[key] for key in _CONDITIONS if table.get(key)), None)


def _find_source(manifest: Manifest, target: str) -> str:
    """Return the path of the file in the project, "" if there is none."""
    stem = _ENDING.sub("", target)
    bare = _BUILT.sub("", stem)
    names = [target, stem]
    for folder in ("src/", "", "source/"):
        names += [f"{folder}{bare}{ending}" for ending in _ENDINGS]
    names += [f"{stem}{ending}" for ending in _ENDINGS]
    names += [f"{target.rstrip('/')}/index{ending}" for ending in _ENDINGS]
    paths = (manifest.resolve_path(name) for name in names if len(name) < 200)
    return next((path for path in paths if path in manifest.paths), "")
