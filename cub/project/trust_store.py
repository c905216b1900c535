"""Store which commands of which repositories this user trusts: their digests, by root."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from cub.files.signed_state import find_state_folder, read_signed, write_signed
from cub.project.executable_config import AgentFile


class TrustedCommands(NamedTuple):
    """Hold what is trusted: the commands of a configuration as one set, those of tasks one by one,
    and the files of agents, each path with its digest.
    """

    config: str = ""
    checks: frozenset[str] = frozenset()
    files: Mapping[str, str] = {}

    def allows(self, config: Mapping[str, str]) -> bool:
        """Return whether the commands of a configuration are trusted, or it has none."""
        return not config or self.config == digest_commands(config)

    def list_untrusted(self, checks: Iterable[str]) -> list[str]:
        """Return the tasks' commands that are not trusted."""
        return [check for check in checks if _digest(check) not in self.checks]

    def explain_untrusted(self, file: AgentFile) -> str:
        """Return why an agent's file is not trusted as it is; "" if it is."""
        if self.files.get(file.path) == file.digest:
            return ""
        if not file.digest:
            return "cannot be read"
        return "changed since you trusted it" if file.path in self.files else "not trusted"


def make_trusted_commands(config: Mapping[str, str], checks: Iterable[str]) -> TrustedCommands:
    """Make the record that trusts these commands."""
    return TrustedCommands(
        digest_commands(config) if config else "", frozenset(map(_digest, checks))
    )


def load_trust(root: Path) -> TrustedCommands:
    """Return the commands that are trusted in the project at `root`."""
    entry = _read().get(root.as_posix(), {})
    checks = frozenset(entry.get("checks", ()))
    return TrustedCommands(entry.get("config", ""), checks, entry.get("files", {}))


def save_trust(root: Path, trust: TrustedCommands | None) -> None:
    """Remember what was agreed to; None takes it back."""
    projects = _read()
    projects.pop(root.as_posix(), None)
    if trust is not None:
        checks, files = sorted(trust.checks), dict(trust.files)
        projects[root.as_posix()] = {"config": trust.config, "checks": checks, "files": files}
    write_signed(_get_path(), {"v": 2, "projects": projects})


def add_trusted_checks(root: Path, checks: Iterable[str]) -> None:
    """Trust commands of tasks: those that the user has just written."""
    trust = load_trust(root)
    save_trust(root, trust._replace(checks=trust.checks | make_trusted_commands({}, checks).checks))


def digest_commands(config: Mapping[str, str]) -> str:
    """Return the digest of a set of keys and their values."""
    return _digest(json.dumps(sorted(config.items())))


def _digest(text: str) -> str:
    return "sha256-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _get_path() -> Path:
    return find_state_folder() / "trust.json"


def _read() -> dict[str, dict[str, Any]]:
    """Return the stored records; a file that cub has not signed counts as none."""
    projects: dict[str, dict[str, Any]] = read_signed(_get_path()).get("projects", {})
    return projects
