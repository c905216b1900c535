"""A small agent for the Agent Client Protocol that does what its arguments say.

    misbehaving_agent.py STEP…

Each step is JSON, done in a turn in their order: a string names an action below, an object is a
message to send, in which "$session" and "$root" are replaced. Standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SESSION = "s-1"
steps = [json.loads(word) for word in sys.argv[1:]]
flags = {step for step in steps if isinstance(step, str)}
log = os.environ.get("ACP_LOG")


def send(**message: Any) -> None:
    text = json.dumps({"jsonrpc": "2.0", **message})
    text = text.replace("$session", SESSION).replace("$root", str(Path.cwd()))
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        if "stays" in flags:
            time.sleep(600)
        sys.exit(0)
    if log:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(line)
    message: dict[str, Any] = json.loads(line)
    return message


def update(**fields: Any) -> None:
    send(method="session/update", params={"sessionId": SESSION, "update": fields})


def say(text: str, **more: Any) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text}, **more)


def open_session() -> dict[str, Any]:
    modes = [{"id": name, "name": name} for name in ("ask", "free")]
    models = [{"modelId": "large", "name": "large"}]
    answer: dict[str, Any] = {"sessionId": SESSION}
    if "options" in flags:
        answer["configOptions"] = [
            {
                "id": f"the-{category}",
                "name": category,
                "category": category,
                "type": "select",
                "currentValue": "a",
                "options": [{"value": "a", "name": "a"}, {"value": "free", "name": "b"}],
            }
            for category in ("mode", "model")
        ]
    elif "plain" not in flags:
        answer["modes"] = {"currentModeId": "ask", "availableModes": modes}
        answer["models"] = {"currentModelId": "small", "availableModels": models}
    return answer


def initialize() -> dict[str, Any]:
    session: dict[str, Any] = {"systemPrompt": {}} if "takes-system" in flags else {}
    version = 2 if "version-2" in flags else 1
    return {"protocolVersion": version, "agentCapabilities": {"sessionCapabilities": session}}


def work(prompt: dict[str, Any]) -> None:
    """Do the steps of a turn; `end_turn` answers the prompt unless a step does so."""
    for step in steps:
        if isinstance(step, str):
            ACTIONS.get(step, lambda: None)()
        elif "result" in step or "error" in step:
            send(id=prompt["id"], **step)
            return
        elif "do" in step:
            subprocess.run(step["do"], shell=True, check=False)
        elif "say" in step:
            say(step.pop("say"), **step)
        elif "update" in step:
            update(**step["update"])
        else:
            send(**step)
            while "id" in step and receive().get("id") != step["id"]:
                pass
    send(id=prompt["id"], result={"stopReason": "end_turn"})


def wait_for_cancel() -> None:
    while receive().get("method") != "session/cancel":
        pass


def hang() -> None:
    wait_for_cancel()
    time.sleep(600)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    sys.stderr.write("the agent's last line\n")
    sys.exit(3)


def close() -> None:
    os.close(1)
    time.sleep(600)


def print_garbage() -> None:
    sys.stdout.write("Loading\n[1]\n{\n")


def flood() -> None:
    for _ in range(200):
        say("x" * 10_000)


def print_long_line() -> None:
    for _ in range(17):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.write("\n")


def leave_orphan() -> None:
    subprocess.Popen(["sleep", "600"], start_new_session=True)


def leave_child() -> None:
    subprocess.Popen(["sleep", "600"])


ACTIONS = {
    "cancelled": wait_for_cancel,
    "hang": hang,
    "die": die,
    "leave": leave,
    "close": close,
    "garbage": print_garbage,
    "flood": flood,
    "long-line": print_long_line,
    "orphan": leave_orphan,
    "child": leave_child,
}


def main() -> None:
    if "stays" in flags:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "mute" in flags:
        time.sleep(600)
    answers = {"initialize": initialize, "session/new": open_session}
    while True:
        message = receive()
        method = message.get("method", "")
        if f"refuse {method}" in flags:
            send(id=message["id"], error={"code": -32000, "message": "Authentication required"})
        elif f"die in {method}" in flags:
            sys.exit(1)
        elif method == "session/prompt":
            work(message)
        elif method in answers:
            send(id=message["id"], result=answers[method]())
        elif "id" in message:
            send(id=message["id"], result={})


main()
