"""Read the files of Rust: Cargo.toml and Cargo's aliases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import detect_target_purpose
from cub.repomap.stack.facts import Fact, ProjectCommand
from cub.repomap.stack.formats import (
    as_table,
    as_texts,
    format_version,
    get_text_at,
    get_value_at,
    parse_toml,
)
from cub.repomap.stack.manifest import Manifest

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def read_cargo_toml(manifest: Manifest) -> Iterator[Fact]:
    """Read a package or a workspace of Cargo."""
    tree = parse_toml(manifest.text)
    is_fuzzed = get_value_at(tree, "package", "metadata", "cargo-fuzz") is not None
    is_root = "workspace" in tree or not manifest.exists_above("Cargo.toml")
    yield manifest.make_technology("Rust", "language", _get_rust_version(tree))
    yield from manifest.find_known("crates", _iter_dependencies(tree))
    programs = {} if is_fuzzed else _get_programs(tree, manifest)
    yield from (manifest.make_entry_point(name, path) for name, path in programs.items())
    name = get_text_at(tree, "package", "name")
    if is_root and not is_fuzzed:
        yield from _list_commands(tree, programs, manifest)
        file = get_text_at(tree, "lib", "path") or manifest.find_beside("src/lib.rs")
        library = get_text_at(tree, "lib", "name") or name
        yield manifest.make_entry_point(library, manifest.resolve_path(file))
    yield manifest.make_package(name, get_text_at(tree, "package", "description"))
    members = as_texts(get_value_at(tree, "workspace", "members"))
    yield from manifest.make_members(members, "Cargo.toml")


def _get_rust_version(tree: dict[str, Any]) -> str:
    """Return the oldest compiler and the edition: "1.75, edition 2021"."""
    rust, edition = (
        format_version(get_value_at(tree, "package", key))
        or format_version(get_value_at(tree, "workspace", "package", key))
        for key in ("rust-version", "edition")
    )
    return ", ".join(part for part in (rust, edition and f"edition {edition}") if part)


def _iter_dependencies(tree: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the crates of all tables, with their real names, without the project's own."""
    platforms = [as_table(part) for part in as_table(tree.get("target")).values()]
    for part in (tree, as_table(tree.get("workspace")), *platforms):
        for key in _TABLES:
            for name, value in as_table(part.get(key)).items():
                if get_value_at(value, "path") is None:
                    version = get_value_at(value, "version") or value
                    yield get_text_at(value, "package") or name, version


def _list_commands(
    tree: dict[str, Any], programs: dict[str, str], manifest: Manifest
) -> Iterator[ProjectCommand]:
    """Yield the commands; `--workspace` includes what a root package leaves out."""
    members = as_texts(get_value_at(tree, "workspace", "members"))
    has_default = get_value_at(tree, "workspace", "default-members") is not None
    option = " --workspace" if members and "package" in tree and not has_default else ""
    yield from manifest.make_commands(
        build=f"cargo build{option}", test=f"cargo test{option}", lint=f"cargo clippy{option}"
    )
    yield from manifest.make_commands(lint="cargo fmt --check", format="cargo fmt")
    if "package" in tree and len(programs) == 1:
        yield manifest.make_command("run", "cargo run")


def _get_programs(tree: dict[str, Any], manifest: Manifest) -> dict[str, str]:
    """Return the paths of the binaries by name: those listed, and those that Cargo finds."""
    programs: dict[str, str] = {}
    rows = tree.get("bin")
    for row in rows if isinstance(rows, list) else []:
        name = get_text_at(row, "name")
        usual = (f"src/bin/{name}.rs", f"src/bin/{name}/main.rs", "src/main.rs")
        file = get_text_at(row, "path") or manifest.find_beside(*usual)
        path = manifest.resolve_path(file)
        if name and path:
            programs[name] = path
    if "package" in tree and get_value_at(tree, "package", "autobins") is not False:
        listed = frozenset(programs.values())
        for name, path in _iter_default_programs(tree, manifest):
            if path not in listed:
                programs.setdefault(name, path)
    return programs


def _iter_default_programs(tree: dict[str, Any], manifest: Manifest) -> Iterator[tuple[str, str]]:
    if manifest.find_beside("src/main.rs"):
        yield get_text_at(tree, "package", "name"), manifest.resolve_path("src/main.rs")
    for path in manifest.list_below("src/bin"):
        name, _, rest = path.partition("/")
        if rest == "main.rs" or (not rest and name.endswith(".rs")):
            yield name.removesuffix(".rs"), manifest.resolve_path(f"src/bin/{path}")


def read_cargo_config(manifest: Manifest) -> Iterator[Fact]:
    """Read aliases, which are other names of arguments: `xtask = "run --package xtask --"`."""
    folder = manifest.folder.rpartition("/")[0]
    for name, value in as_table(parse_toml(manifest.text).get("alias")).items():
        if purpose := detect_target_purpose(name, f"cargo {' '.join(as_texts(value))}"):
            yield ProjectCommand(purpose, f"cargo {name}", manifest.path, folder, "target")
