"""`.cub/state.json`: what this checkout alone remembers; losing it costs a detail, never a byte."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from cub.errors import NewerError
from cub.project.targets import target_problem

STATE = ".cub/state.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """`templates`: the section version written last; `sections`: nested files that were given
    one, so that it is found again when they are targets no more; `empty`: files that were
    there, empty, before cub; `offered`: for each file of cub's that a person edited, the version
    whose text was last put beside it.
    """

    templates: int = 0
    sections: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    offered: dict[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, data: bytes | None, templates: int) -> State:
        """Read the file; unreadable content counts as none, a newer cub's is refused."""
        try:
            tree = json.loads(data or b"{}")
            state = cls(
                int(tree.get("templates", 0)),
                tuple(path for path in tree.get("sections", ()) if not target_problem(path)),
                tuple(str(path) for path in tree.get("empty", ())),
                {str(path): int(v) for path, v in tree.get("offered", {}).items()},
            )
            written = int(tree.get("v", _FORMAT))
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
            return cls()
        if written > _FORMAT or state.templates > templates:
            raise NewerError(
                "this project was last written",
                f"format {written}, templates v{state.templates}",
                f"knows format {_FORMAT}, templates v{templates}",
                where=STATE,
            )
        return state

    def dump(self) -> bytes:
        """The file's bytes."""
        tree = {
            "v": _FORMAT,
            "templates": self.templates,
            "sections": sorted(self.sections),
            "empty": sorted(self.empty),
            "offered": dict(sorted(self.offered.items())),
        }
        return json.dumps(tree, indent=1).encode() + b"\n"

    def with_offer(self, path: str, version: int) -> State:
        """The same, remembering that the text of `version` was offered."""
        return replace(self, offered={**self.offered, path: version})
