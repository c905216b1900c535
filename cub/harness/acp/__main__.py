"""Run an agent that speaks the Agent Client Protocol, as an agent that speaks cub's own.

    python -m cub.harness.acp PERMISSIONS MODE MODEL SYSTEM_FILE COMMAND [ARGUMENT…]

MODE and MODEL are the agent's own if they are "", and there may be no file. The prompt is read from
stdin. Each line of stdout is an event (docs/reference/agents.md). INT
cancels the turn; TERM ends the agent without waiting for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cub.harness.acp.agent_connection import AgentConnection, EndGraces, StopSignals
from cub.harness.acp.conversation import (
    Conversation,
    Patience,
    SessionOptions,
    TurnFailedError,
)

_NOT_FOUND, _NOT_STARTED = 127, 126  # exit codes, as a shell has them


def main(words: Sequence[str]) -> int:
    """Have the agent work on the prompt, and return the exit code: 0 for success."""
    permissions, mode, model, system_file, *command = words
    system = Path(system_file).read_text(encoding="utf-8", errors="replace") if system_file else ""
    options = SessionOptions(permissions, mode, model, system)
    stop = StopSignals()
    stop.install()
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        connection = AgentConnection(command, stop)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {os.strerror(error.errno or 0)}\n")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_STARTED
    try:
        return _report_work(
            Conversation(connection, stop, _print_event, options, Patience()), prompt
        )
    finally:
        connection.end(EndGraces())
        if connection.garbage_count:
            lines = f"{connection.garbage_count:,} lines of the agent's stdout"
            sys.stderr.write(f"{lines} were not messages of the protocol\n")


def _report_work(conversation: Conversation, prompt: str) -> int:
    """Have the agent work, report how that ended, and return the exit code."""
    try:
        said = conversation.hold(prompt)
    except TurnFailedError as error:
        # Imported for failures only: it loads the masking of secrets.
        from cub.harness.reported_refusals import extract_message

        kind, words, is_reply = error.failure
        message = extract_message(words)
        if kind:
            _print_event({"type": kind, "text": message})
        _print_event({"type": "text", "text": message, "failed": True})
        said = error.last_words
        if words in said:  # a refusal, or the service's words in those of Codex's adapter
            said = words if is_reply else said.replace(words, "").strip()
        said = said or words * is_reply
        _print_event({"type": "result", "text": said, "failed": True})
        return 1
    _print_event({"type": "result", "text": said, "failed": False})
    return 0


def _print_event(event: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
