"""Read the files with versions of languages and tools: .tool-versions, .nvmrc and others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cub.repomap.stack.facts import Fact
from cub.repomap.stack.manifest import Manifest

_NODE_VERSION = re.compile(r"v?\d{1,3}(?:\.[\dx]{1,4}){0,2}|lts/[\w*-]{1,20}|node|stable")
_PYTHON_VERSION = re.compile(r"(?:python-|pypy)?[\d.]{1,12}\w{0,6}")
_RUBY_VERSION = re.compile(r"[\w.-]{1,40}")
_LINE = re.compile(r"([a-z][\w-]*)[ \t]+([\w.+-]{1,30})", re.ASCII)
_MAX_LINES = 200


def read_tool_versions(manifest: Manifest) -> Iterator[Fact]:
    """Read .tool-versions: a name and a version a line."""
    lines = map(_LINE.match, manifest.text.split("\n")[:_MAX_LINES])
    yield from manifest.find_known("asdf", [(line[1], line[2]) for line in lines if line])


def read_python_version(manifest: Manifest) -> Iterator[Fact]:
    """Read .python-version: one version a line, the first is the default."""
    first = "".join(manifest.text.split()[:1])
    version = first.removeprefix("python-") if _PYTHON_VERSION.fullmatch(first) else ""
    yield manifest.make_technology("Python", "language", version)


def read_node_version(manifest: Manifest) -> Iterator[Fact]:
    """Read .nvmrc or .node-version: one version, or the name of one."""
    text = manifest.text.strip()
    version = text.removeprefix("v") if _NODE_VERSION.fullmatch(text) else ""
    yield manifest.make_technology("Node.js", "runtime", version)


def read_ruby_version(manifest: Manifest) -> Iterator[Fact]:
    """Read .ruby-version: one version."""
    version = manifest.text.strip().removeprefix("ruby-")
    if not _RUBY_VERSION.fullmatch(version):
        raise ValueError("this is not the name of one Ruby version")
    yield manifest.make_technology("Ruby", "language", version)
