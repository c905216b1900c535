"""Rust: Cargo.toml.

What stands beside Cargo.toml: aliases, the toolchain, and the files of Cargo's tools.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cub.repomap.stack.command_purposes import detect_target_purpose
from cub.repomap.stack.facts import (
    EntryPoint,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    ProjectPackage,
    Technology,
)
from cub.repomap.stack.formats import as_table, as_texts, get_text_at, get_value_at, parse_toml
from cub.repomap.stack.known_packages import find_known_technologies, format_version
from cub.repomap.stack.manifest_paths import (
    exists_above,
    find_beside,
    find_workspace_members,
    list_below,
    resolve_manifest_path,
)

_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


def _cargo(manifest: Manifest) -> ManifestFacts:
    tree, source = parse_toml(manifest.text), manifest.path
    fuzzing = get_value_at(tree, "package", "metadata", "cargo-fuzz") is not None
    leads = "workspace" in tree or not exists_above(manifest, "Cargo.toml")
    return ManifestFacts(
        technologies=(
            Technology("Rust", "language", _rust_version(tree), source),
            Technology("Cargo", "manager", "", source),
            *find_known_technologies("crates", _dependencies(tree), source),
        ),
        commands=tuple(_commands(tree, manifest)) if leads and not fuzzing else (),
        entry_points=tuple(_entry_points(tree, manifest, leads)) if not fuzzing else (),
        packages=tuple(_packages(tree, manifest)),
    )


def _rust_version(tree: dict[str, Any]) -> str:
    """The oldest compiler and the edition: "1.75, edition 2021"."""
    rust, edition = (
        format_version(get_value_at(tree, "package", key))
        or format_version(get_value_at(tree, "workspace", "package", key))
        for key in ("rust-version", "edition")
    )
    return ", ".join(part for part in (rust, edition and f"edition {edition}") if part)


def _dependencies(tree: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The crates of all tables, with their real names; those with a path are the project's own."""
    platforms = [as_table(part) for part in as_table(tree.get("target")).values()]
    for part in (tree, as_table(tree.get("workspace")), *platforms):
        for key in _TABLES:
            for name, wanted in as_table(part.get(key)).items():
                if get_value_at(wanted, "path") is None:
                    version = format_version(get_value_at(wanted, "version") or wanted)
                    yield get_text_at(wanted, "package") or name, version


def _commands(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectCommand]:
    """What a root package leaves out, `--workspace` takes in."""
    members = as_texts(get_value_at(tree, "workspace", "members"))
    chosen = get_value_at(tree, "workspace", "default-members") is not None
    whole = " --workspace" if members and "package" in tree and not chosen else ""
    source, folder = manifest.path, manifest.folder
    yield ProjectCommand("build", f"cargo build{whole}", source, folder)
    yield ProjectCommand("test", f"cargo test{whole}", source, folder)
    yield ProjectCommand("lint", f"cargo clippy{whole}", source, folder)
    yield ProjectCommand("lint", "cargo fmt --check", source, folder)
    yield ProjectCommand("format", "cargo fmt", source, folder)
    if "package" in tree and len(list(_programs(tree, manifest))) == 1:
        yield ProjectCommand("run", "cargo run", source, folder)


def _entry_points(tree: dict[str, Any], manifest: Manifest, leads: bool) -> Iterator[EntryPoint]:
    """The programs, and the face of a library that is not a part of something larger."""
    for name, path in _programs(tree, manifest).items():
        yield EntryPoint(name, path, manifest.path)
    face = get_text_at(tree, "lib", "path") or find_beside(manifest, "src/lib.rs")
    name = get_text_at(tree, "lib", "name") or get_text_at(tree, "package", "name")
    if leads and name and resolve_manifest_path(manifest, face):
        yield EntryPoint(name, resolve_manifest_path(manifest, face), manifest.path)


def _programs(tree: dict[str, Any], manifest: Manifest) -> dict[str, str]:
    """The paths of the binaries, by name: those listed, and those that Cargo finds by itself."""
    found: dict[str, str] = {}
    listed = tree.get("bin")
    for program in listed if isinstance(listed, list) else []:
        name = get_text_at(program, "name")
        usual = (f"src/bin/{name}.rs", f"src/bin/{name}/main.rs", "src/main.rs")
        path = resolve_manifest_path(
            manifest, get_text_at(program, "path") or find_beside(manifest, *usual)
        )
        if name and path:
            found[name] = path
    if "package" in tree and get_value_at(tree, "package", "autobins") is not False:
        listed_paths = frozenset(found.values())
        for name, path in _found_programs(tree, manifest):
            if path not in listed_paths:
                found.setdefault(name, path)
    return found


def _found_programs(tree: dict[str, Any], manifest: Manifest) -> Iterator[tuple[str, str]]:
    if find_beside(manifest, "src/main.rs"):
        yield get_text_at(tree, "package", "name"), resolve_manifest_path(manifest, "src/main.rs")
    for path in list_below(manifest, "src/bin"):
        name, _, rest = path.partition("/")
        if rest == "main.rs" or (not rest and name.endswith(".rs")):
            yield name.removesuffix(".rs"), resolve_manifest_path(manifest, f"src/bin/{path}")


def _packages(tree: dict[str, Any], manifest: Manifest) -> Iterator[ProjectPackage]:
    """The package itself, and without names the members of its workspace, which have their own."""
    if name := get_text_at(tree, "package", "name"):
        words = get_text_at(tree, "package", "description")
        yield ProjectPackage(manifest.folder, name, words, manifest.path)
    for folder in find_workspace_members(
        manifest, as_texts(get_value_at(tree, "workspace", "members")), "Cargo.toml"
    ):
        if folder != manifest.folder:
            yield ProjectPackage(folder, "", "", manifest.path)


READERS: tuple[ManifestReader, ...] = (ManifestReader(("Cargo.toml",), _cargo),)


def _aliases(manifest: Manifest) -> ManifestFacts:
    """Aliases stand for arguments: `xtask = "run --package xtask --"`."""
    folder = manifest.folder.rpartition("/")[0]
    found = as_table(parse_toml(manifest.text).get("alias"))
    lines = {name: f"cargo {' '.join(as_texts(value))}" for name, value in found.items()}
    purposes = {name: detect_target_purpose(name, line) for name, line in lines.items()}
    return ManifestFacts(
        commands=tuple(
            ProjectCommand(purpose, f"cargo {name}", manifest.path, folder, "target")
            for name, purpose in purposes.items()
            if purpose
        )
    )


def _toolchain(manifest: Manifest) -> ManifestFacts:
    """The file without a suffix may hold a channel alone."""
    text = manifest.text.strip()
    plain = "\n" not in text and "[" not in text and not manifest.path.endswith(".toml")
    channel = text if plain else get_text_at(parse_toml(text), "toolchain", "channel")
    named = Technology("Rust", "language", format_version(channel), manifest.path)
    return ManifestFacts(technologies=(named,) if named.version else ())


def _clippy(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(technologies=(Technology("Clippy", "tool", "", manifest.path),))


def _rustfmt(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(technologies=(Technology("rustfmt", "tool", "", manifest.path),))


def _deny(manifest: Manifest) -> ManifestFacts:
    return ManifestFacts(
        technologies=(Technology("cargo-deny", "tool", "", manifest.path),),
        commands=(ProjectCommand("lint", "cargo deny check", manifest.path, manifest.folder),),
    )


def _nextest(manifest: Manifest) -> ManifestFacts:
    folder = manifest.folder.rpartition("/")[0]
    return ManifestFacts(
        technologies=(Technology("cargo-nextest", "tool", "", manifest.path),),
        commands=(ProjectCommand("test", "cargo nextest run", manifest.path, folder),),
    )


RUST_TOOLS_READERS: tuple[ManifestReader, ...] = (
    ManifestReader((".cargo/config.toml", ".cargo/config"), _aliases),
    ManifestReader(("rust-toolchain.toml", "rust-toolchain"), _toolchain),
    ManifestReader(("clippy.toml", ".clippy.toml"), _clippy),
    ManifestReader(("rustfmt.toml", ".rustfmt.toml"), _rustfmt),
    ManifestReader(("deny.toml",), _deny),
    ManifestReader((".config/nextest.toml",), _nextest),
)
