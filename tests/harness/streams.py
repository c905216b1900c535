"""Streams of real agents: recorded ones, and objects that look like theirs and are wrong."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cub.harness.base import AgentEvent, Harness, LineReader, Transcript
from cub.harness.refusals import Refusal


class Replay(NamedTuple):
    """What a reader made of a stream."""

    events: list[AgentEvent]
    transcript: Transcript

    @property
    def shown(self) -> list[tuple[str, str]]:
        """The kind and the text of what a person sees, and of tokens."""
        return [
            (event.kind, ",".join(map(str, event.tokens)) if event.tokens else event.text)
            for event in self.events
            if event.kind not in ("other", "session", "model", "cost")
        ]

    def find_refusal(self, harness: Harness, now: datetime) -> Refusal | None:
        return harness.find_refusal(self.transcript, "", now)


def replay(harness: Harness, out: bytes, errors: bytes = b"") -> Replay:
    """Read a stream of an agent, stderr first."""
    reader = harness.open_reader()
    events = [*reader.read_errors(errors), *read_pieces(reader, [out])]
    transcript = Transcript()
    for event in events:
        transcript.add_event(event)
    return Replay(events, transcript)


def read_pieces(reader: LineReader, pieces: Iterable[bytes]) -> list[AgentEvent]:
    return [*(event for piece in pieces for event in reader.read(piece)), *reader.finish()]


def replay_sample(harness: Harness, name: str) -> Replay:
    """Read a recorded stream; they are not part of cub, see docs/dev/testing.md."""
    if "CUB_SHARED" not in os.environ:
        pytest.skip("CUB_SHARED is not set")
    path = Path(os.environ["CUB_SHARED"], "samples", f"{name}.out")
    errors = path.with_suffix(".err")
    return replay(
        harness,
        path.read_bytes() if path.exists() else b"",
        errors.read_bytes() if errors.exists() else b"",
    )


def encode_lines(*trees: Any) -> bytes:
    return b"".join(json.dumps(tree).encode() + b"\n" for tree in trees)


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
    """An object with each of its values replaced by one of another type, one at a time."""
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
            found = replay(harness, encode_lines(odd, trees[-1]))
            json.dumps([event.to_dict() for event in found.events], ensure_ascii=False).encode()
            found.transcript.final_message.encode()
