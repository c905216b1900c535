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
PROMPT = "This is a test of what reaches the model. Reply with the word Done, and use no tools.\n"
_WORD, _EARLIER_WORD = "cubmoment", "cubearlier"
_SUMMARY = Reply(f"<summary>{_WORD}: nothing was done yet.</summary>")
# Agents don't compact a conversation that is short; Gemini CLI stops a model that repeats itself.
_LONG_TEXT = " ".join([_EARLIER_WORD, *map(str, range(50_000))])


def find_obstacle(profile: AgentProfile, moment: Moment) -> str:
    """Return why an agent can't be brought to a moment; "" if it can."""
    steps = profile.steps
    compacts = steps.full_tokens or steps.compact
    known = {"resume": steps.resume, "compaction": compacts, "subagent": steps.subagent[0]}
    return "" if known.get(moment, True) else f"cub can't drive {profile.title} to it"


def list_later_prompts(profile: AgentProfile, moment: Moment) -> tuple[str, ...]:
    """Return what a user says after the start until the moment comes, each in a resumed session."""
    prompts = {"resume": (PROMPT,), "compaction": profile.steps.compact}
    return prompts.get(moment, ())


def make_server(profile: AgentProfile, moment: Moment) -> ModelServer:
    """Return a model that brings an agent to a moment by its first reply."""
    if moment == "subagent":
        tool, arguments = profile.steps.subagent
        call = ScriptedCall(tool, {**arguments, "prompt": f"Reply with the word {_WORD}."})
        return ModelServer([Reply(calls=[call])])
    if moment == "compaction":
        command = "true" if profile.steps.full_tokens else ""
        full = Reply(_LONG_TEXT, command, input_tokens=profile.steps.full_tokens or 1000)
        return ModelServer(chain([full], repeat(_SUMMARY)), _SUMMARY)
    return ModelServer()


def find_texts(requests: Iterable[RecordedRequest], moment: Moment) -> tuple[str, ...]:
    """Return the texts of the first request after a moment; () if it has not come."""
    for request in requests:
        if not request.is_side_request and _is_after(request, moment):
            return request.texts
    return ()


def _is_after(request: RecordedRequest, moment: Moment) -> bool:
    if moment in ("", "resume") or any(_WORD in text for text in request.texts):
        return True
    if moment == "subagent":
        return False
    # The summary may be a message of the model itself, which is not one of the texts. Where a
    # summary was only an answer, the conversation before it is still there.
    body = json.dumps(request.body)
    return _WORD in body and _EARLIER_WORD not in body
