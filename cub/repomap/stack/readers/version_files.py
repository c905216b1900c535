"""Read the files with versions of languages and tools: .tool-versions, .nvmrc and others."""

from __future__ import annotations

import re

from cub.repomap.stack.facts import ManifestFacts, TechnologyRole
from cub.repomap.stack.known_packages import find_known_technologies
from cub.repomap.stack.manifest import Manifest

_NODE_VERSION = re.compile(r"v?\d{1,3}(?:\.[\dx]{1,4}){0,2}|lts/[\w*-]{1,20}|node|stable")
_PYTHON_VERSION = re.compile(r"(?:python-|pypy)?[\d.]{1,12}\w{0,6}")
_RUBY_VERSION = re.compile(r"[\w.-]{1,40}")
_LINE = re.compile(r"([a-z][\w-]*)[ \t]+([\w.+-]{1,30})", re.ASCII)
_MAX_LINES = 200


def read_tool_versions(manifest: Manifest) -> ManifestFacts:
    """Read .tool-versions: a name and a version a line."""
    lines = (_LINE.match(line) for line in manifest.text.split("\n")[:_MAX_LINES])
    versions = [(line[1], line[2]) for line in lines if line]
    return ManifestFacts(find_known_technologies("asdf", versions, manifest.path))


def read_python_version(manifest: Manifest) -> ManifestFacts:
    """Read .python-version: one version a line, the first is the default."""
    first = "".join(manifest.text.split()[:1])
    version = first if _PYTHON_VERSION.fullmatch(first) else ""
    return _make_facts(manifest, "Python", "language", version.removeprefix("python-"))


def read_node_version(manifest: Manifest) -> ManifestFacts:
    """Read .nvmrc or .node-version: one version, or the name of one."""
    text = manifest.text.strip()
    version = text if _NODE_VERSION.fullmatch(text) else ""
    return _make_facts(manifest, "Node.js", "runtime", version.removeprefix("v"))


def read_ruby_version(manifest: Manifest) -> ManifestFacts:
    """Read .ruby-version: one version."""
    version = manifest.text.strip().removeprefix("ruby-")
    if not _RUBY_VERSION.fullmatch(version):
        raise ValueError("this is not the name of one Ruby version")
    return _make_facts(manifest, "Ruby", "language", version)


def _make_facts(manifest: Manifest, name: str, role: TechnologyRole, version: str) -> ManifestFacts:
    return ManifestFacts((manifest.make_technology(name, role, version),))
