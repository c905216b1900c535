"""What stands beside Cargo.toml: aliases, the toolchain, and the files of Cargo's tools."""

from __future__ import annotations

from cub.repomap.stack.commands.purposes import purpose_of_target
from cub.repomap.stack.dependencies import version_of
from cub.repomap.stack.facts import Command, Facts, Manifest, Reader, Technology
from cub.repomap.stack.formats.trees import table, text_at, texts, toml_tree


def _aliases(manifest: Manifest) -> Facts:
    """Aliases stand for arguments: `xtask = "run --package xtask --"`."""
    folder = manifest.folder.rpartition("/")[0]
    found = table(toml_tree(manifest.text).get("alias"))
    lines = {name: f"cargo {' '.join(texts(value))}" for name, value in found.items()}
    purposes = {name: purpose_of_target(name, line) for name, line in lines.items()}
    return Facts(
        commands=tuple(
            Command(purpose, f"cargo {name}", manifest.path, folder, "target")
            for name, purpose in purposes.items()
            if purpose
        )
    )


def _toolchain(manifest: Manifest) -> Facts:
    """The file without a suffix may hold a channel alone."""
    text = manifest.text.strip()
    plain = "\n" not in text and "[" not in text and not manifest.path.endswith(".toml")
    channel = text if plain else text_at(toml_tree(text), "toolchain", "channel")
    named = Technology("Rust", "language", version_of(channel), manifest.path)
    return Facts(technologies=(named,) if named.version else ())


def _clippy(manifest: Manifest) -> Facts:
    return Facts(technologies=(Technology("Clippy", "tool", "", manifest.path),))


def _rustfmt(manifest: Manifest) -> Facts:
    return Facts(technologies=(Technology("rustfmt", "tool", "", manifest.path),))


def _deny(manifest: Manifest) -> Facts:
    return Facts(
        technologies=(Technology("cargo-deny", "tool", "", manifest.path),),
        commands=(Command("lint", "cargo deny check", manifest.path, manifest.folder),),
    )


def _nextest(manifest: Manifest) -> Facts:
    folder = manifest.folder.rpartition("/")[0]
    return Facts(
        technologies=(Technology("cargo-nextest", "tool", "", manifest.path),),
        commands=(Command("test", "cargo nextest run", manifest.path, folder),),
    )


READERS: tuple[Reader, ...] = (
    Reader((".cargo/config.toml", ".cargo/config"), _aliases),
    Reader(("rust-toolchain.toml", "rust-toolchain"), _toolchain),
    Reader(("clippy.toml", ".clippy.toml"), _clippy),
    Reader(("rustfmt.toml", ".rustfmt.toml"), _rustfmt),
    Reader(("deny.toml",), _deny),
    Reader((".config/nextest.toml",), _nextest),
)
