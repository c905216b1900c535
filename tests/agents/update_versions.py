"""Try the newest version of each agent, and write those that work into the tables of versions.

`python -m tests.agents.update_versions [AGENT...]` asks the registries, installs what is new by
`.ci/agents`, whose lines are the one source of the tried versions, and runs the smoke test. An
agent that fails it keeps its version.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from cub.agent_profiles.profiles import NAMED_PROFILES

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / ".ci/agents"
_PAGES = ("README.md", "tests/docs/claims.toml", "docs/how-to")
_LINE = re.compile(r"^(\S+) +(npm|pip) +(@?[^@=\s]+)(@|==)([\w.]+)", re.MULTILINE)
_TITLES = {profile.name: profile.title for profile in NAMED_PROFILES}


class Package(NamedTuple):
    """The package of an agent, and the version that was tried."""

    agent: str
    kind: str
    name: str
    version: str


def list_packages(text: str) -> list[Package]:
    """The packages of the agents that cub knows, as `.ci/agents` lists them."""
    found = (Package(m[1], m[2], m[3], m[5]) for m in _LINE.finditer(text))
    return [package for package in found if package.agent in _TITLES]


def set_version(text: str, package: Package, version: str) -> str:
    """`.ci/agents` with another version of a package."""
    mark = "@" if package.kind == "npm" else "=="
    return text.replace(
        f"{package.name}{mark}{package.version}", f"{package.name}{mark}{version}", 1
    )


def rewrite_page(text: str, package: Package, version: str) -> str:
    """A page with another tried version of an agent; its oldest version and examples stay.

    That is the row of its table, and what says that cub was tried with it.
    """
    title, old = re.escape(_TITLES[package.agent]), re.escape(package.version)
    head = rf'^"?\| (?:\[{title}\]\([^)]*\)|{title}) \| '
    said = rf"tried with\s+{title} |npm install -g {re.escape(package.name)}@"
    said += rf"|Version (?={old} also runs)"
    also = rf"({title} ){old},\s+which\s+is\s+also\s+the\s+oldest\s+version\s+known\s+to\s+work"
    apart = rf"\g<1>{version}; the oldest version known to work is {package.version}"
    text = re.sub(also, apart, text)
    pattern = rf"({head}|{said}){old}(?![\w.]*\d)"
    return re.sub(pattern, lambda match: match[1] + version, text, flags=re.MULTILINE)


def find_newest(package: Package) -> str:
    """The newest version that the registry has, whatever this machine's Node.js is."""
    if package.kind == "npm":
        return _run("npm", "view", package.name, "dist-tags.latest").strip()
    versions = _run(sys.executable, "-m", "pip", "index", "versions", package.name)
    return versions.partition("(")[2].partition(")")[0]


def try_version(package: Package) -> bool:
    """Install what `.ci/agents` names, and run the smoke test of an agent."""
    folder = _run(str(SOURCE)).strip()
    smoke = f"tests/agents/test_smoke.py::test_an_agent_closes_a_task[{package.agent}]"
    # A test that is skipped, as there is no such program, ends with 0 as well.
    command = [sys.executable, "-m", "pytest", "-q", "--thorough", "-m", "thorough", smoke]
    done = subprocess.run(
        ["env", f"CUB_AGENTS={folder}", *command],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    return done.returncode == 0 and "1 passed" in done.stdout


def update(
    agents: Iterable[str],
    root: Path,
    find: Callable[[Package], str],
    attempt: Callable[[Package], bool],
) -> dict[str, str]:
    """Try the newest versions; what became of each agent, by its name."""
    source, told = root / ".ci/agents", {}
    for package in list_packages(source.read_text(encoding="utf-8")):
        if agents and package.agent not in agents:
            continue
        newest = find(package)
        if newest == package.version:
            told[package.agent] = f"{newest} is the newest"
            continue
        before = source.read_text(encoding="utf-8")
        source.write_text(set_version(before, package, newest), encoding="utf-8")
        if attempt(package):
            _rewrite_pages(root, package, newest)
            told[package.agent] = f"{package.version} -> {newest}"
        else:
            source.write_text(before, encoding="utf-8")
            told[package.agent] = f"{newest} fails, {package.version} stays"
    return told


def _rewrite_pages(root: Path, package: Package, version: str) -> None:
    for name in _PAGES:
        place = root / name
        for page in sorted(place.glob("*.md")) if place.is_dir() else [place]:
            text = page.read_text(encoding="utf-8")
            page.write_text(rewrite_page(text, package, version), encoding="utf-8")


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return done.stdout


if __name__ == "__main__":
    for one, what in update(sys.argv[1:], ROOT, find_newest, try_version).items():
        sys.stdout.write(f"{one}: {what}\n")
