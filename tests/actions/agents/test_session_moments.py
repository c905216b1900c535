from __future__ import annotations

import pytest

from cub.actions.agents.session_moments import Moment, find_obstacle, find_texts
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.model_server.apis import parse_messages_request
from cub.model_server.exchange import RecordedRequest

SUMMARY = "<summary>cubmoment: nothing was done yet.</summary>"


def request(*messages: tuple[str, str], tools: tuple[str, ...] = ("Bash",)) -> RecordedRequest:
    """A request with messages of these roles."""
    body = {
        "messages": [{"role": role, "content": text} for role, text in messages],
        "tools": [{"name": name} for name in tools],
    }
    return parse_messages_request("/v1/messages", body)


START = request(("user", "Rules"), ("user", "Go"))
ANSWERED = request(("user", "Go"), ("assistant", f"cubearlier {SUMMARY}"), ("user", "Go on."))
COMPACTED = request(("user", "Rules"), ("user", SUMMARY), ("user", "Go on."))
OWN_WORDS = request(("user", "What did we do?"), ("assistant", SUMMARY), ("user", "Go on."))
HALF_KEPT = request(("user", SUMMARY), ("assistant", "cubearlier"), ("user", "Go on."))
ASIDE = request(("user", SUMMARY), tools=())


@pytest.mark.parametrize(
    ("after", "requests", "found"),
    [
        ("", [ASIDE, START, COMPACTED], START),
        ("resume", [ASIDE, START], START),
        ("compaction", [START, ASIDE, COMPACTED], COMPACTED),
        ("compaction", [START, OWN_WORDS], OWN_WORDS),
        ("compaction", [START, HALF_KEPT], HALF_KEPT),
        ("compaction", [START, ANSWERED], None),
        ("subagent", [START, OWN_WORDS, COMPACTED], COMPACTED),
        ("subagent", [START, ASIDE], None),
    ],
)
def test_the_first_request_after_a_moment(
    after: Moment, requests: list[RecordedRequest], found: RecordedRequest | None
) -> None:
    assert find_texts(requests, after) == (found.texts if found else ())


def test_which_agents_cub_can_bring_to_which_moment() -> None:
    moments: tuple[Moment, ...] = ("resume", "compaction", "subagent")
    known = {
        one.name: [moment for moment in moments if not find_obstacle(one, moment)]
        for one in NAMED_PROFILES
    }
    every = list(moments)
    assert known == {
        "claude": every,
        "codex": ["resume", "compaction"],
        "gemini": every,
        "opencode": every,
        "aider": [],
        "pi": ["resume", "compaction"],
    }
