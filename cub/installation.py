"""Find out how this cub was installed, and name the commands that add an extra or upgrade it.

No command takes the package's bare name from an index unless this cub came from one: nobody has to
own that name.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PACKAGE = "cub-agents"
InstallationKind = Literal["checkout", "uv", "pipx", "pip"]
_RECEIPTS: dict[str, InstallationKind] = {"uv-receipt.toml": "uv", "pipx_metadata.json": "pipx"}


class Installation(NamedTuple):
    """Describe an installation of cub.

    `source` is where it came from: a directory, the address of a repository or file, the package's
    name for an index, or "" if nothing records it. `requirements` are the packages of each extra.
    """

    kind: InstallationKind
    source: str
    python: str
    requirements: dict[str, tuple[str, ...]]
    has_pip: bool = True

    def suggest_extra(self, extra: str) -> str:
        """Return the command that installs the packages of an extra into this installation."""
        packages = self.requirements.get(extra, ())
        if self.kind == "pipx" and packages:
            return shlex.join(["pipx", "inject", PACKAGE, *packages])
        wanted = self._add_extra(extra)
        if self.kind == "uv" and wanted:
            return shlex.join(["uv", "tool", "install", "--force", wanted])
        if self.kind == "checkout":
            return self._install("-e", wanted)
        return self._install(*([wanted] if wanted else packages))

    def suggest_upgrade(self) -> str:
        """Return the command that upgrades this installation; "" if its source is not known."""
        if self.kind == "checkout":
            return shlex.join(["git", "-C", self.source, "pull"])
        if self.kind in ("uv", "pipx"):
            return shlex.join(
                [*{"uv": ("uv", "tool"), "pipx": ("pipx",)}[self.kind], "upgrade", PACKAGE]
            )
        return self._install("--upgrade", self.source) if self.source else ""

    def advise_upgrade(self, needed: str) -> str:
        """Return a hint to upgrade to a cub that knows what is `needed`."""
        command = self.suggest_upgrade()
        return f"upgrade cub to a version that knows {needed}" + f": `{command}`" * bool(command)

    def _add_extra(self, extra: str) -> str:
        """Return the source with an extra as installers take it; "" if it is not known."""
        if "://" in self.source:
            return f"{PACKAGE}[{extra}] @ {self.source}"
        return f"{self.source}[{extra}]" if self.source else ""

    def _install(self, *words: str) -> str:
        if self.has_pip:
            return shlex.join([self.python, "-m", "pip", "install", *words])
        return shlex.join(["uv", "pip", "install", "--python", self.python, *words])


@cache
def find_installation() -> Installation:
    """Return how the cub that runs was installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        found: Distribution | None = distribution(PACKAGE)
    except PackageNotFoundError:
        found = None
    root = Path(__file__).parents[1]
    return describe_installation(root, Path(sys.prefix), found)


def describe_installation(root: Path, prefix: Path, package: Distribution | None) -> Installation:
    """Return how a cub was installed: `root` is the directory above its package."""
    requirements = _list_requirements(package.requires or ()) if package else {}
    kind: InstallationKind = next(
        (kind for name, kind in _RECEIPTS.items() if (prefix / name).is_file()), "pip"
    )
    source = _read_source(package) if package else ""
    if (root / "pyproject.toml").is_file() and (root / "templates").is_dir():
        kind, source = "checkout", root.as_posix()
    return Installation(
        kind, source, sys.executable, requirements, has_pip=find_spec("pip") is not None
    )


def _list_requirements(lines: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the packages of each extra, from lines such as `httpx2>=2; extra == "agent"`."""
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        package, _, marker = line.partition(";")
        name, _, extra = marker.partition("==")
        if name.strip() == "extra":
            extra = extra.strip().strip("'\"")
            found[extra] = (*found.get(extra, ()), package.strip())
    return found


def _read_source(package: Distribution) -> str:
    """Return where a package came from: PEP 610 records all but an index.

    A directory or a file that is gone can't be installed again, so it counts as unknown.
    """
    read = package.read_text
    text = read("direct_url.json")
    if text is None:
        return PACKAGE if read("INSTALLER") else ""
    try:
        record = json.loads(text)
        return _read_direct_url(record) if isinstance(record, dict) else ""
    except ValueError:
        return ""


def _read_direct_url(record: dict[str, Any]) -> str:
    url = str(record.get("url") or "")
    if url.startswith("file:"):
        from urllib.request import url2pathname  # slow to import

        path = Path(url2pathname(urlsplit(url).path))
        return path.as_posix() if path.exists() else ""
    vcs = record.get("vcs_info")
    if not isinstance(vcs, dict):
        return url
    revision = vcs.get("requested_revision")
    return f"{vcs.get('vcs')}+{url}" + (f"@{revision}" if revision else "")
