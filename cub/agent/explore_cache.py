"""Keep results of the tools that read files, so that a repeated call costs nothing.

What Read returned is valid while the file's signature is the same. What a search returned is valid
for a time, since nothing cheap tells that none of many files has changed outside of the agent.
"""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from cub.agent.events import CacheStatistics
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput
from cub.agent.tools.tool_arguments import ToolError
from cub.files.read_files import make_stat_signature
from cub.json_values import JsonObject, get_text

MAX_ENTRIES = 200
TTL_SECONDS = 30.0


class CacheKey(NamedTuple):
    """Identify a call: `path` is the real path of the file, or of the folder that is searched.

    `signature` is the file's before the call runs, and None for a search.
    """

    call: str
    path: Path
    signature: tuple[int, ...] | None


@dataclass(slots=True)
class ExploreCache:
    """Hold the results that were used last. One thread uses it: the one that starts the tools.

    `clock` returns seconds that never go back. `ttl` is how many of them a search is valid for.
    """

    max_entries: int = MAX_ENTRIES
    ttl: float = TTL_SECONDS
    is_enabled: bool = True
    clock: Callable[[], float] = time.monotonic
    # Each with when it was stored.
    _entries: OrderedDict[CacheKey, tuple[ToolOutput, float]] = field(default_factory=OrderedDict)
    _counts: Counter[str] = field(default_factory=Counter)

    @property
    def statistics(self) -> CacheStatistics:
        """Return how many entries there are, and what happened so far."""
        _, *names = CacheStatistics._fields
        return CacheStatistics(len(self._entries), *(self._counts[name] for name in names))

    def copy(self) -> ExploreCache:
        """Return one with the same results, which goes its own way from now on."""
        return replace(self, _entries=self._entries.copy(), _counts=Counter())

    def make_key(self, tool: Tool, values: JsonObject, context: ToolContext) -> CacheKey | None:
        """Return the key of a call, taken before it runs; None for one that is never stored."""
        if not (self.is_enabled and tool.effect == "read"):
            return None
        call = json.dumps([tool.name, values, str(context.folder)], sort_keys=True)
        try:
            start = get_text(values, "path") if tool.search else tool.get_subject(values)
            path = context.resolve_path(start or ".")
            is_search = tool.search or path.is_dir()
            return CacheKey(call, path, None if is_search else make_stat_signature(path.stat()))
        except (OSError, ToolError):  # the tool says what is wrong
            return None

    def find_output(self, key: CacheKey | None) -> ToolOutput | None:
        """Return what the same call returned, if a new one would return the same; else None."""
        if key is None:
            return None
        output, stored_at = self._entries.get(key, (None, 0.0))
        if output and (key.signature or self.clock() - stored_at < self.ttl):
            self._counts["hits"] += 1
            self._entries.move_to_end(key)
            return output
        self._counts["misses"] += 1
        self._drop_all(lambda other: other.call == key.call)
        return None

    def store_output(self, key: CacheKey | None, output: ToolOutput) -> None:
        """Keep what a call has returned; errors are raised, and never come here.

        Images are not kept: they are large, and rarely seen twice.
        """
        if key is None or output.images:
            return
        self._entries[key] = output, self.clock()
        while len(self._entries) > self.max_entries:
            self._entries.popitem(last=False)
            self._counts["evictions"] += 1

    def invalidate_path(self, path: Path) -> None:
        """Drop what depends on a file (its real path) that a tool has written."""
        if path.name == ".gitignore":  # searches may find other files now
            self.invalidate_all()
        self._drop_all(
            lambda key: key.path == path if key.signature else path.is_relative_to(key.path)
        )

    def invalidate_all(self) -> None:
        """Drop everything: a command ran, and may have changed anything."""
        self._drop_all(lambda _: True)

    def clear(self) -> None:
        """Drop everything: the model no longer has the results before it."""
        self._entries.clear()

    def _drop_all(self, depends: Callable[[CacheKey], bool]) -> None:
        for key in [key for key in self._entries if depends(key)]:
            del self._entries[key]
            self._counts["invalidations"] += 1
