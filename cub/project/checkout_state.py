"""Keep `.cub/state.json`, which only this checkout remembers; losing it costs no user's byte."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from cub.errors import NewerVersionError
from cub.project.targets import find_target_problem

STATE_FILE = ".cub/state.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class CheckoutState:
    """Hold what this checkout remembers.

    `templates`: the section version written last; `nested_sections`: nested files that were given
    one, so that it is found when they are no longer targets; `empty_files`: files that existed,
    empty, before cub; `offered_versions`: for each managed file that the user edited, the version
    offered last.
    """

    templates: int = 0
    nested_sections: tuple[str, ...] = ()
    empty_files: tuple[str, ...] = ()
    offered_versions: dict[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes | None, templates: int) -> CheckoutState:
        """Read the file; unreadable content counts as none, a newer cub's is refused."""
        try:
            tree = json.loads(data or b"{}")
            state = cls(
                int(tree.get("templates", 0)),
                tuple(path for path in tree.get("sections", ()) if not find_target_problem(path)),
                tuple(str(path) for path in tree.get("empty", ())),
                {str(path): int(v) for path, v in tree.get("offered", {}).items()},
            )
            written = int(tree.get("v", _FORMAT))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return cls()
        if written > _FORMAT or state.templates > templates:
            raise NewerVersionError(
                "this project was last written",
                f"format {written}, templates v{state.templates}",
                f"knows format {_FORMAT}, templates v{templates}",
                where=STATE_FILE,
            )
        return state

    def to_bytes(self) -> bytes:
        """Return the file's bytes."""
        tree = {
            "v": _FORMAT,
            "templates": self.templates,
            "sections": sorted(self.nested_sections),
            "empty": sorted(self.empty_files),
            "offered": dict(sorted(self.offered_versions.items())),
        }
        return json.dumps(tree, indent=1).encode() + b"\n"

    def with_offer(self, path: str, version: int) -> CheckoutState:
        """Return the state that also remembers the offer of `version`."""
        return replace(self, offered_versions={**self.offered_versions, path: version})
