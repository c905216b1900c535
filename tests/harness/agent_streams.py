"""Play what an agent prints to the reader of a harness."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from cub.harness.base import AgentEvent, Harness, LaunchRequest, Transcript


class PlayedStream(NamedTuple):
    """Hold the events of a stream, and what they add up to."""

    events: list[AgentEvent]
    transcript: Transcript

    def list_texts(self, kind: str) -> list[str]:
        """Return the texts of the events of a kind."""
        return [event.text for event in self.events if event.kind == kind]


def play_stream(harness: Harness, out: bytes | str, errors: bytes | str = b"") -> PlayedStream:
    """Read stderr first, then stdout, then their end."""
    reader = harness.open_reader()
    events = [*reader.read_errors(_encode(errors)), *reader.read(_encode(out)), *reader.finish()]
    transcript = Transcript()
    for event in events:
        transcript.add_event(event)
    return PlayedStream(events, transcript)


def play_sample(harness: Harness, name: str) -> PlayedStream:
    """Play a recorded stream of the real agent; skip the test where there is none."""
    folder = os.environ.get("CUB_SHARED")
    if folder is None:
        pytest.skip("CUB_SHARED is not set")
    out, errors = (Path(folder, "samples", f"{name}.{end}") for end in ("out", "err"))
    return play_stream(harness, out.read_bytes(), errors.read_bytes() if errors.exists() else b"")


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


def _encode(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text
