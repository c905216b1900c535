"""Replay the requests of a session through the rules of a service's cache, and count the price.

The rules are those of Anthropic's cache: a request marks up to four blocks, up to each of which it
is cached; from each mark, the service looks back 20 blocks for what an earlier request had cached.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from cub.agent.anthropic_model import AnthropicModel
from cub.agent.conversation import Message
from cub.agent.loop import AgentSession, SessionLimits
from cub.agent.model import ModelEndpoint, ModelRequest
from cub.agent.old_results import ResultCutter, truncate_old_results
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.json_values import JsonObject
from cub.tokens import estimate_tokens
from tests.agent.doubles import FakeModel, WordArguments, call, make_tool, make_toolbox, say

READ_PRICE, WRITE_PRICE = 0.1, 1.25
_LOOKBACK = 20
_WORD = "The price of bread is in cents.\n"

# The lengths of results, in characters, one list for each turn. The last one is of a session in
# which a bug was looked for and fixed: searches, files, edits, and runs of the tests.
PATTERNS: dict[str, list[list[int]]] = {
    "40 reads of 12 KB": [[12_000]] * 40,
    "40 reads of 20 KB": [[20_000]] * 40,
    "every second one of 15 KB": [[15_000], [1_000]] * 20,
    "every fourth one of 30 KB": [[30_000], [1_000], [1_000], [1_000]] * 10,
    "three of 12 KB a turn": [[12_000] * 3] * 20,
    "a bug fix": [
        [1_900], [3_400, 800], [14_200], [6_100, 9_800, 2_300], [700], [22_500], [4_200], [300],
        [5_600], [12_800, 3_100], [900], [350], [8_700], [350, 350], [31_000], [2_600], [450],
        [18_400], [1_200, 4_900], [350], [6_300], [250], [11_500], [3_800], [350], [9_200],
        [16_900, 2_700], [600], [350], [5_100], [27_300], [1_400], [350], [4_700], [7_900],
        [350, 300], [13_600], [2_200], [350], [6_800], [500], [10_400], [1_700], [900], [400],
    ],
}  # fmt: skip


class CacheCost(NamedTuple):
    """Count the tokens of all requests, and what they cost, as so many that are not cached.

    `again` are those that the request before has had as well, `cached` those read from the cache.
    """

    sent: int
    again: int
    cached: int
    cost: float

    @property
    def share(self) -> float:
        return self.cached / self.again


class EachTurn(ResultCutter):
    """Cuts old results before each request."""

    def cut(self, messages: list[Message], *_: object, **__: object) -> list[Message]:
        return truncate_old_results(messages)


class NeverCut(ResultCutter):
    """Cuts nothing."""

    def cut(self, messages: list[Message], *_: object, **__: object) -> list[Message]:
        return messages


def replay(folder: Path, sizes: Sequence[Sequence[int]], cutter: ResultCutter) -> CacheCost:
    """What the cache makes of a session whose calls have results of these sizes."""

    def read(arguments: WordArguments, _: ToolContext) -> ToolOutput:
        size = int(arguments.word.partition(" ")[0])
        return ToolOutput((f"# {arguments.word}\n" + _WORD * (size // len(_WORD) + 1))[:size])

    replies = (
        call(*[("Read", f"{size} {turn}.{number}") for number, size in enumerate(turn_sizes)])
        for turn, turn_sizes in enumerate(sizes)
    )
    model = FakeModel(*replies, say("Done."))
    toolbox = make_toolbox(folder, [make_tool("Read", read)])
    system, limits = "You are a coding agent. " * 300, SessionLimits(1_000, 10**9)
    session = AgentSession(model, model, toolbox, system, limits, cutter=cutter)
    for _ in session.work_on("Fix the bug that the issue describes."):
        pass
    return count_cost(model.requests)


def count_cost(requests: Iterable[ModelRequest]) -> CacheCost:
    """What a series of requests costs."""
    sent = again = cached = 0
    entries, before = set[bytes](), set[bytes]()
    model = AnthropicModel(ModelEndpoint("m", "http://127.0.0.1:1"))
    for request in requests:
        blocks = list(_iter_blocks(model.build_body(request)))
        prefixes, digest = list[bytes](), b""
        for text, _ in blocks:
            digest = sha256(digest + text.encode()).digest()
            prefixes.append(digest)
        tokens = [_count_tokens(text) for text, _ in blocks]
        marks = [number for number, (_, is_marked) in enumerate(blocks) if is_marked]
        assert len(marks) <= 4
        found = (
            place
            for mark in marks
            for place in range(mark, max(-1, mark - _LOOKBACK), -1)
            if prefixes[place] in entries
        )
        cached += sum(tokens[: max(found, default=-1) + 1])
        sent += sum(tokens)
        again += sum(
            n for n, (text, _) in zip(tokens, blocks, strict=True) if _sign(text) in before
        )
        before = {_sign(text) for text, _ in blocks}
        entries.update(prefixes[mark] for mark in marks)
    return CacheCost(sent, again, cached, READ_PRICE * cached + WRITE_PRICE * (sent - cached))


_count_tokens = lru_cache(maxsize=1_000)(estimate_tokens)


def _sign(text: str) -> bytes:
    return sha256(text.encode()).digest()


def _iter_blocks(body: JsonObject) -> Iterator[tuple[str, bool]]:
    """The blocks of a request in their order, as text, and whether the cache is marked there."""
    messages: list[dict[str, Any]] = body["messages"]
    yield json.dumps(body.get("tools")), False
    for block in [
        *body.get("system", ()),
        *(b for message in messages for b in message["content"]),
    ]:
        rest = {key: value for key, value in block.items() if key != "cache_control"}
        yield json.dumps(rest), "cache_control" in block
