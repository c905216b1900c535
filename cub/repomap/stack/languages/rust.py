"""Rust: Cargo.toml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.around import above, below, beside, path_of
from cub.repomap.stack.dependencies import known, version_of
from cub.repomap.stack.facts import (
    Command,
    EntryPoint,
    Facts,
    Manifest,
    Package,
    Reader,
    Technology,
)
from cub.repomap.stack.formats.trees import at, table, text_at, texts, toml_tree
from cub.repomap.stack.workspaces import members

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def _cargo(manifest: Manifest) -> Facts:
    tree, source = toml_tree(manifest.text), manifest.path
    fuzzing = at(tree, "package", "metadata", "cargo-fuzz") is not None
    leads = "workspace" in tree or not above(manifest, "Cargo.toml")
    return Facts(
        technologies=(
            Technology("Rust", "language", _rust_version(tree), source),
            Technology("Cargo", "manager", "", source),
            *known("crates", _dependencies(tree), source),
        ),
        commands=tuple(_commands(tree, manifest)) if leads and not fuzzing else (),
        entry_points=tuple(_entry_points(tree, manifest, leads)) if not fuzzing else (),
        packages=tuple(_packages(tree, manifest)),
    )


def _rust_version(tree: dict[str, Any]) -> str:
    """The oldest compiler and the edition: "1.75, edition 2021"."""
    rust, edition = (
        version_of(at(tree, "package", key)) or version_of(at(tree, "workspace", "package", key))
        for key in ("rust-version", "edition")
    )
    return ", ".join(part for part in (rust, edition and f"edition {edition}") if part)


def _dependencies(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The crates of all tables, with their real names; those with a path are the project's own."""
    platforms = [table(part) for part in table(tree.get("target")).values()]
    for part in (tree, table(tree.get("workspace")), *platforms):
        for key in _TABLES:
            for name, wanted in table(part.get(key)).items():
                if at(wanted, "path") is None:
                    version = version_of(at(wanted, "version") or wanted)
                    yield text_at(wanted, "package") or name, version


def _commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[Command]:
    """What a root package leaves out, `--workspace` takes in."""
    members = texts(at(tree, "workspace", "members"))
    chosen = at(tree, "workspace", "default-members") is not None
    whole = " --workspace" if members and "package" in tree and not chosen else ""
    source, folder = manifest.path, manifest.folder
    yield Command("build", f"cargo build{whole}", source, folder)
    yield Command("test", f"cargo test{whole}", source, folder)
    yield Command("lint", f"cargo clippy{whole}", source, folder)
    yield Command("lint", "cargo fmt --check", source, folder)
    yield Command("format", "cargo fmt", source, folder)
    if "package" in tree and len(list(_programs(tree, manifest))) == 1:
        yield Command("run", "cargo run", source, folder)


def _entry_points(tree: dict[str, Any], manifest: Manifest, leads: bool) -> Iterator[EntryPoint]:
    """The programs, and the face of a library that is not a part of something larger."""
    for name, path in _programs(tree, manifest).items():
        yield EntryPoint(name, path, manifest.path)
    face = text_at(tree, "lib", "path") or beside(manifest, "src/lib.rs")
    name = text_at(tree, "lib", "name") or text_at(tree, "package", "name")
    if leads and name and path_of(manifest, face):
        yield EntryPoint(name, path_of(manifest, face), manifest.path)


def _programs(tree: dict[str, Any], manifest: Manifest) -> dict[str, str]:
    """The paths of the binaries, by name: those listed, and those that Cargo finds by itself."""
    found: dict[str, str] = {}
    listed = tree.get("bin")
    for program in listed if isinstance(listed, list) else []:
        name = text_at(program, "name")
        usual = (f"src/bin/{name}.rs", f"src/bin/{name}/main.rs", "src/main.rs")
        path = path_of(manifest, text_at(program, "path") or beside(manifest, *usual))
        if name and path:
            found[name] = path
    if "package" in tree and at(tree, "package", "autobins") is not False:
        listed_paths = frozenset(found.values())
        for name, path in _found_programs(tree, manifest):
            if path not in listed_paths:
                found.setdefault(name, path)
    return found


def _found_programs(tree: dict[str, Any], manifest: Manifest) -> Iterator[tuple[str, str]]:
    if beside(manifest, "src/main.rs"):
        yield text_at(tree, "package", "name"), path_of(manifest, "src/main.rs")
    for path in below(manifest, "src/bin"):
        name, _, rest = path.partition("/")
        if rest == "main.rs" or (not rest and name.endswith(".rs")):
            yield name.removesuffix(".rs"), path_of(manifest, f"src/bin/{path}")


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[Package]:
    """The package itself, and without names the members of its workspace, which have their own."""
    if name := text_at(tree, "package", "name"):
        words = text_at(tree, "package", "description")
        yield Package(manifest.folder, name, words, manifest.path)
    for folder in members(manifest, texts(at(tree, "workspace", "members")), "Cargo.toml"):
        if folder != manifest.folder:
            yield Package(folder, "", "", manifest.path)


READERS: tuple[Reader, ...] = (Reader(("Cargo.toml",), _cargo),)
