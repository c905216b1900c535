"""Store which commands of which repositories this user trusts: their digests, by root."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cub.files.signed_state import find_state_folder, read_signed, write_signed


class TrustedCommands(NamedTuple):
    """Hold trusted commands: those of a configuration as one set, those of tasks one by one."""

    config: str = ""
    checks: frozenset[str] = frozenset()

    def list_untrusted(self, checks: Iterable[str]) -> list[str]:
        """Return the tasks' commands that are not trusted."""
        return [check for check in checks if _digest(check) not in self.checks]


def make_trusted_commands(config: Mapping[str, str], checks: Iterable[str]) -> TrustedCommands:
    """Make the record that trusts these commands."""
    return TrustedCommands(
        digest_commands(config) if config else "", frozenset(map(_digest, checks))
    )


def load_trust(root: Path) -> TrustedCommands:
    """Return the commands that are trusted in the project at `root`."""
    entry = _read().get(root.as_posix())
    if not isinstance(entry, dict) or not isinstance(entry.get("checks"), list):
        return TrustedCommands()
    return TrustedCommands(str(entry.get("config", "")), frozenset(map(str, entry["checks"])))


def save_trust(root: Path, trust: TrustedCommands | None) -> None:
    """Remember what was agreed to; None takes it back."""
    projects = _read()
    projects.pop(root.as_posix(), None)
    if trust is not None:
        projects[root.as_posix()] = {"config": trust.config, "checks": sorted(trust.checks)}
    write_signed(_get_path(), {"v": 2, "projects": projects})


def add_trusted_checks(root: Path, checks: Iterable[str]) -> None:
    """Agree to commands of tasks: those that the person has just written."""
    trust = load_trust(root)
    save_trust(root, trust._replace(checks=trust.checks | make_trusted_commands({}, checks).checks))


def digest_commands(config: Mapping[str, str]) -> str:
    """Return the digest of a set of keys and their values."""
    return _digest(json.dumps(sorted(config.items())))


def _digest(text: str) -> str:
    return "sha256-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _get_path() -> Path:
    return find_state_folder() / "trust.json"


def _read() -> dict[str, object]:
    """Return the stored records. A damaged or foreign file counts as none: it only costs asking
    again.
    """
    tree = read_signed(_get_path()).get("projects")
    return tree if isinstance(tree, dict) else {}
