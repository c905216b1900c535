"""Bring an agent to a moment at which it may lose texts, and find its first request after that.

The model server plays the model: it calls for a subagent, or says that the context is full. Its
words to a subagent, and its summary, have a word of their own, by which the request is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain, repeat
from typing import Literal

from cub.agent_profiles.agent_profile import AgentProfile
from cub.model_server.exchange import RecordedRequest, Reply, ScriptedCall
from cub.model_server.server import ModelServer

Moment = Literal["", "resume", "compaction", "subagent"]  # "" is the start
_WORD = "cubmoment"
_SUMMARY = Reply(f"<summary>{_WORD}: nothing was done yet.</summary>")


def find_obstacle(profile: AgentProfile, moment: Moment) -> str:
    """Return why an agent can't be brought to a moment; "" if it can."""
    steps = profile.steps
    known = {"resume": steps.resume, "compaction": steps.full_tokens, "subagent": steps.subagent[0]}
    return "" if known.get(moment, True) else f"cub can't drive {profile.title} to it"


def make_server(profile: AgentProfile, moment: Moment) -> ModelServer:
    """Return a model that brings an agent to a moment by its first reply."""
    if moment == "subagent":
        tool, arguments = profile.steps.subagent
        call = ScriptedCall(tool, {**arguments, "prompt": f"Reply with the word {_WORD}."})
        return ModelServer([Reply(calls=[call])])
    if moment == "compaction":
        full = Reply(command="true", input_tokens=profile.steps.full_tokens)
        return ModelServer(chain([full], repeat(_SUMMARY)), _SUMMARY)
    return ModelServer()


def find_texts(requests: Iterable[RecordedRequest], moment: Moment) -> tuple[str, ...]:
    """Return the texts of the first request after a moment; () if it has not come."""
    for request in requests:
        words = {"subagent": "\n".join(request.texts), "compaction": json.dumps(request.body)}
        if not request.is_side_request and _WORD in words.get(moment, _WORD):
            return request.texts
    return ()
