"""Talk with the small agent that misbehaves, in this process or through a child of cub's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from cub.harness.acp.agent_connection import AgentConnection, EndGraces, StopSignals
from cub.harness.acp.conversation import (
    Conversation,
    Patience,
    SessionOptions,
    TurnFailedError,
)

AGENT = (sys.executable, "-I", "-S", str(Path(__file__).with_name("misbehaving_agent.py")))
Step = str | Mapping[str, Any]
QUICK = Patience(start=10.0, silence=10.0, cancel=10.0)
USAGE = {"inputTokens": 10, "outputTokens": 2, "cachedReadTokens": 3, "cachedWriteTokens": 1}


def command(*steps: Step) -> list[str]:
    """The agent, with what it does in its turn."""
    return [*AGENT, *(json.dumps(step) for step in steps)]


@dataclass
class Talk:
    """What a conversation reported, and how it ended: `kind` and `words` of its failure."""

    events: list[dict[str, Any]] = field(default_factory=list)
    said: str = ""
    failed: bool = False
    kind: str = ""
    words: str = ""
    garbage: int = 0
    group: list[int] = field(default_factory=list)

    def of(self, kind: str) -> list[Any]:
        return [event.get("text", event) for event in self.events if event["type"] == kind]


def talk(
    *steps: Step,
    prompt: str = "Do it",
    options: SessionOptions | None = None,
    patience: Patience = QUICK,
    stop: StopSignals | None = None,
) -> Talk:
    """Have the agent do its steps, and return what came of it."""
    done, stop = Talk(), stop or StopSignals()
    before = set(psutil.Process().children())  # such as those of this test's fixtures
    connection = AgentConnection(command(*steps), stop)
    told = options or SessionOptions("auto", "", "", "")
    try:
        one = Conversation(connection, stop, lambda e: done.events.append(dict(e)), told, patience)
        done.said = one.hold(prompt)
    except TurnFailedError as error:
        done.failed, done.said = True, error.last_words
        done.kind, done.words, _ = error.failure
    finally:
        done.garbage = connection.garbage_count
        mine = set(psutil.Process().children()) - before
        done.group = [one.pid for top in mine for one in (top, *top.children(recursive=True))]
        connection.end(EndGraces(0.2, 0.2))
    return done


def child(*steps: Step, **environ: str) -> subprocess.Popen[bytes]:
    """Cub's process that talks with the agent; its stdin is open."""
    return subprocess.Popen(
        [sys.executable, "-m", "cub.harness.acp", "auto", "", "", "", *command(*steps)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environ},
    )


def said(text: str, **more: Any) -> Step:
    return {"say": text, **more}


def update(name: str, **fields: Any) -> Step:
    return {"update": {"sessionUpdate": name, **fields}}


def ask(number: int = 7, *, options: tuple[str, ...] = (), **tool: Any) -> Step:
    """A request for permission, with options by their kinds."""
    kinds = options or ("allow_always", "allow_once", "reject_once")
    return {
        "id": number,
        "method": "session/request_permission",
        "params": {
            "sessionId": "$session",
            "toolCall": {"toolCallId": f"t-{number}", **tool},
            "options": [{"optionId": f"o-{kind}", "name": kind, "kind": kind} for kind in kinds],
        },
    }


def result(reason: str = "end_turn", **more: Any) -> Step:
    return {"result": {"stopReason": reason, **more}}


def error(code: int, message: str, **data: Any) -> Step:
    return {"error": {"code": code, "message": message, "data": data}}
