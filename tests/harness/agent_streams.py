"""Play what an agent prints to the reader of a harness: recorded, made up, or wrong."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from cub.harness.base import AgentEvent, Harness, LaunchRequest, Transcript
from cub.harness.refusals import Refusal

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)


class PlayedStream(NamedTuple):
    """Hold the events of a stream, and what they add up to."""

    harness: Harness
    events: list[AgentEvent]
    transcript: Transcript

    def list_texts(self, kind: str) -> list[str]:
        """Return the texts of the events of a kind."""
        return [event.text for event in self.events if event.kind == kind]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Return the kind and the text of what a person sees, and of tokens."""
        return [
            (event.kind, ",".join(map(str, event.tokens)) if event.tokens else event.text)
            for event in self.events
            if event.kind not in ("other", "session", "model", "cost")
        ]

    @property
    def refusal(self) -> Refusal | None:
        """Return what the harness says at noon that the service refused."""
        return self.harness.find_refusal(self.transcript, "", NOW)

    @property
    def refusal_kind(self) -> str | None:
        """Return the kind of what was refused, None for nothing."""
        return self.refusal.kind if self.refusal else None

    def is_success(self, exit_code: int = 0) -> bool:
        """Return whether the attempt is a success if the agent ends with this code."""
        return self.harness.is_success(self.transcript, exit_code)

    @property
    def lacks_reply(self) -> bool:
        """Return whether no model said or did anything."""
        return self.harness.lacks_reply(self.transcript)


def collect_events(*events: AgentEvent) -> Transcript:
    """Return what events add up to."""
    transcript = Transcript()
    for event in events:
        transcript.add_event(event)
    return transcript


def play_stream(harness: Harness, out: bytes | str, errors: bytes | str = b"") -> PlayedStream:
    """Read stderr first, then stdout, then their end."""
    reader = harness.open_reader()
    events = [*reader.read_errors(_encode(errors)), *reader.read(_encode(out)), *reader.finish()]
    return PlayedStream(harness, events, collect_events(*events))


def play_sample(harness: Harness, name: str) -> PlayedStream:
    """Play a recorded stream of the real agent; skip the test where there is none.

    They are not part of cub, see docs/dev/testing.md.
    """
    folder = os.environ.get("CUB_SHARED")
    if folder is None:
        pytest.skip("CUB_SHARED is not set")
    paths = [Path(folder, "samples", f"{name}.{end}") for end in ("out", "err")]
    out, errors = (path.read_bytes() if path.exists() else b"" for path in paths)
    return play_stream(harness, out, errors)


def join_lines(*trees: Any) -> str:
    """Return JSON objects as the lines of a stream."""
    return "".join(f"{json.dumps(tree)}\n" for tree in trees)


def make_request(folder: Path, **values: Any) -> LaunchRequest:
    """Return a request with both prompts, for the permissions `auto`."""
    request = LaunchRequest("Do it.", "Rules.", folder, folder, "shop-1", 1, None, "auto")
    return request._replace(**values)


def make_objects(keys: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects of JSON with these keys, and values of any type."""
    names = st.sampled_from(keys)
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
    values = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=5),
        max_leaves=10,
    )
    return st.dictionaries(names, values, max_size=5)


_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**400,
    1.5,
    math.nan,
    "x",
    "\ud800",
    [],
    {},
    [[]],
    [{}],
    {"a": {"b": 1}},
)


def spoil(tree: Any) -> Iterator[Any]:
    """Yield an object with each of its values replaced by one of another type, one at a time."""
    yield from _ODD
    children: Iterable[tuple[Any, Any]] = ()
    if isinstance(tree, dict):
        children = tree.items()
    elif isinstance(tree, list):
        children = enumerate(tree)
    for key, child in children:
        for odd in spoil(child):
            changed = tree.copy()
            changed[key] = odd
            yield changed


def check_odd_values(harness: Harness, trees: Sequence[Any]) -> None:
    """Read objects with each value spoiled in turn: events must have texts that can be sent."""
    for tree in trees:
        for odd in spoil(tree):
            found = play_stream(harness, join_lines(odd, trees[-1]))
            json.dumps([event.to_dict() for event in found.events], ensure_ascii=False).encode()
            found.transcript.final_message.encode()


def _encode(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text
