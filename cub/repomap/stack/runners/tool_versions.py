"""Versions of languages and tools in one file: .tool-versions."""

from __future__ import annotations

import re

from cub.repomap.stack.facts import Facts, Manifest, Reader, Role, Technology

_KNOWN: dict[str, tuple[str, Role]] = {
    "python": ("Python", "language"),
    "ruby": ("Ruby", "language"),
    "golang": ("Go", "language"),
    "go": ("Go", "language"),
    "rust": ("Rust", "language"),
    "java": ("Java", "language"),
    "kotlin": ("Kotlin", "language"),
    "elixir": ("Elixir", "language"),
    "erlang": ("Erlang", "language"),
    "php": ("PHP", "language"),
    "nodejs": ("Node.js", "runtime"),
    "node": ("Node.js", "runtime"),
    "deno": ("Deno", "runtime"),
    "bun": ("Bun", "manager"),
    "pnpm": ("pnpm", "manager"),
    "yarn": ("Yarn", "manager"),
    "poetry": ("Poetry", "manager"),
    "uv": ("uv", "manager"),
    "terraform": ("Terraform", "tool"),
}
_LINE = re.compile(r"([a-z][\w-]*)[ \t]+([\w.+-]{1,30})", re.ASCII)


def _read(manifest: Manifest) -> Facts:
    found = (_LINE.match(line) for line in manifest.text.split("\n")[:200])
    named = [line for line in found if line and line[1] in _KNOWN]
    return Facts(tuple(Technology(*_KNOWN[one[1]], one[2], manifest.path) for one in named))


READERS = (Reader((".tool-versions",), _read),)
