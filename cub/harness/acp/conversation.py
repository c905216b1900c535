"""Hold the conversation of one attempt: initialize, a session, its mode, and one prompt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from cub import __version__
from cub.harness.acp.agent_connection import AgentClosedError, AgentConnection, StopSignals
from cub.harness.acp.tool_calls import choose_option
from cub.harness.acp.turn_failure import (
    TurnFailure,
    make_failure,
    read_error,
    read_stop,
)
from cub.harness.acp.turn_reader import EventSink, TurnReader
from cub.json_values import JsonObject, get_object, get_text, list_objects

_PROTOCOL_VERSION = 1
_METHOD_NOT_FOUND = -32601
_PROMPT = "session/prompt"
_INTERRUPTED = "the attempt was interrupted"


class Patience(NamedTuple):
    """Hold the seconds to wait: for answers before the prompt, for a sign of the model in a turn,
    and for the response to a cancellation.
    """

    start: float = 60.0
    silence: float = 600.0
    cancel: float = 2.0


class SessionOptions(NamedTuple):
    """Hold what a session is to be like; "" for the agent's default mode and model."""

    permissions: str
    mode: str
    model: str
    system_prompt: str


class TurnFailedError(Exception):
    """End the conversation; `last_words` is what the agent has said in the end."""

    def __init__(self, failure: TurnFailure, last_words: str) -> None:
        super().__init__(failure.words)
        self.failure = failure
        self.last_words = last_words


class Conversation:
    """Talk with an agent, report its work to `emit`, and answer its requests."""

    def __init__(
        self,
        connection: AgentConnection,
        stop: StopSignals,
        emit: EventSink,
        options: SessionOptions,
        patience: Patience,
    ) -> None:
        self._connection = connection
        self._stop = stop
        self._emit = emit
        self._options = options
        self._patience = patience
        self._root = Path.cwd()
        self._turn = TurnReader(emit, self._root)
        self._method = ""
        self._last_id = 0
        self._is_cancelling = False

    def hold(self, prompt: str) -> str:
        """Have the agent work on the prompt, and return its last words.

        Raises TurnFailedError if it fails.
        """
        try:
            answer = self._ask("initialize", _describe_client())
            if (version := answer.get("protocolVersion")) != _PROTOCOL_VERSION:
                self._fail(f"the agent speaks version {version} of the protocol, cub version 1")
            capabilities = get_object(answer, "agentCapabilities", "sessionCapabilities")
            takes_system = "systemPrompt" in capabilities
            session = self._open_session(takes_system=takes_system)
            system = "" if takes_system else self._options.system_prompt
            return self._work(session, _join_prompts(system, prompt))
        except AgentClosedError as error:
            self._turn.end_turn()
            words = f"{str(error) or self._connection.describe_exit()}, during {self._method}"
            kind = "" if self._method == _PROMPT else "setup"
            raise TurnFailedError(TurnFailure(kind, words), self._turn.last_words) from None

    def _open_session(self, *, takes_system: bool) -> str:
        """Return the id of a new session, in the mode and with the model that are asked for."""
        params: dict[str, Any] = {"cwd": str(self._root), "mcpServers": []}
        if takes_system and self._options.system_prompt:
            content = [{"type": "text", "text": self._options.system_prompt}]
            params["systemPrompt"] = {"mode": "append", "content": content}
        answer = self._ask("session/new", params)
        session = get_text(answer, "sessionId")
        self._emit({"type": "session", "id": session})
        for category, value in (("model", self._options.model), ("mode", self._options.mode)):
            if value:
                self._choose(session, answer, category, value)
        return session

    def _choose(self, session: str, answer: JsonObject, category: str, value: str) -> None:
        """Set the mode or the model, by the call for it or by an option of the session."""
        available = list_objects(answer, f"{category}s", f"available{category.title()}s")
        names = [get_text(one, "id") or get_text(one, "modelId") for one in available]
        if value in names:
            self._ask(f"session/set_{category}", {"sessionId": session, f"{category}Id": value})
            return
        for option in list_objects(answer, "configOptions"):
            if option.get("category") == category:
                params = {"configId": get_text(option, "id"), "value": value}
                names = _list_values(option)
                try:
                    self._ask("session/set_config_option", {"sessionId": session, **params})
                except TurnFailedError:
                    if value in names:
                        raise
                    break  # the list says it better
                return
        known = f"it has {', '.join(names)}" if names else "it offers no choice"
        self._fail(f"the agent has no {category} {value!r}: {known}")

    def _work(self, session: str, prompt: str) -> str:
        """Send the prompt, and return the agent's last words in the turn."""
        # What came before is no part of the turn, such as notices of a new mode.
        turn = self._turn = TurnReader(self._emit, self._root)
        params = {"sessionId": session, "prompt": [{"type": "text", "text": prompt}]}
        request_id = self._send_request(_PROMPT, params)
        response = self._await_response(request_id, self._find_deadline)
        failure = None if response else self._explain_end()
        if response is None:
            self._is_cancelling = True
            self._connection.send({"method": "session/cancel", "params": {"sessionId": session}})
            deadline = time.monotonic() + self._patience.cancel
            response = self._await_response(request_id, lambda: deadline) or {}
        is_unused = turn.read_response(get_object(response, "result"))
        if failure := failure or self._judge(response, is_unused=is_unused):
            # What Codex's adapter says of a broken service looks like a model's words.
            is_own = turn.is_broken and not turn.has_worked
            raise TurnFailedError(failure, "" if is_own else turn.last_words)
        return turn.last_words

    def _judge(self, response: JsonObject, *, is_unused: bool) -> TurnFailure | None:
        """Return why the turn failed; None if it did not."""
        if "error" in response:
            return read_error(get_object(response, "error"), self._method)
        if self._turn.is_broken:
            # The last words of Codex's adapter have the service's among them.
            return self._turn.retry or make_failure(self._turn.last_words)
        reason, said = get_text(response, "result", "stopReason"), self._turn.last_words
        return read_stop(reason, said=said, has_worked=self._turn.has_worked, is_unused=is_unused)

    def _explain_end(self) -> TurnFailure:
        """Return why cub ends the turn."""
        if self._turn.is_retrying and self._turn.retry:
            return self._turn.retry
        if self._stop.is_requested:
            return TurnFailure("", _INTERRUPTED)
        seconds = f"{self._patience.silence:.0f} s"
        return TurnFailure("service", f"the model was silent for {seconds} while no tool ran")

    def _find_deadline(self) -> float | None:
        """Return when to give up the turn; None for never, while a tool is at work."""
        return self._turn.sign_time + self._patience.silence if self._turn.is_waiting else None

    def _ask(self, method: str, params: Mapping[str, Any]) -> JsonObject:
        """Return the result of a request that takes no long time."""
        deadline = time.monotonic() + self._patience.start
        response = self._await_response(self._send_request(method, params), lambda: deadline)
        if response is None:
            seconds = f"{self._patience.start:.0f} s"
            if self._stop.is_requested:
                raise TurnFailedError(TurnFailure("", _INTERRUPTED), "")
            self._fail(f"no answer to {method} within {seconds}")
        if "error" in response:
            raise TurnFailedError(read_error(get_object(response, "error"), method), "")
        return get_object(response, "result")

    def _send_request(self, method: str, params: Mapping[str, Any]) -> int:
        self._method = method
        self._last_id += 1
        self._connection.send({"id": self._last_id, "method": method, "params": params})
        return self._last_id

    def _await_response(
        self, request_id: int, find_deadline: Callable[[], float | None]
    ) -> JsonObject | None:
        """Return the response; None once the deadline has passed, or a stop is requested."""
        while not (self._stop.is_urgent or (self._stop.is_requested and not self._is_cancelling)):
            deadline = find_deadline()
            message = self._connection.receive(deadline)
            if message is None:
                if deadline is not None and time.monotonic() >= deadline:
                    return None
            elif "method" in message:
                self._take_message(message)
            elif message.get("id") == request_id:
                return message
        return None

    def _take_message(self, message: JsonObject) -> None:
        """Answer a request, and read an update; other notifications are the agent's own affair."""
        method, params = message["method"], get_object(message, "params")
        if "id" not in message:
            if method == "session/update":
                self._turn.read_update(get_object(params, "update"))
        elif method == "session/request_permission":
            outcome = self._decide(params)
            self._connection.send({"id": message["id"], "result": {"outcome": outcome}})
        else:  # files and terminals among them: cub has declared that it has none
            error = {"code": _METHOD_NOT_FOUND, "message": f"cub does not offer {method}"}
            self._connection.send({"id": message["id"], "error": error})

    def _decide(self, params: JsonObject) -> JsonObject:
        """Return the outcome of a request for permission; report what was not allowed."""
        if self._is_cancelling:
            return {"outcome": "cancelled"}
        tool = self._turn.read_tool(get_object(params, "toolCall"), is_asked=True)
        is_allowed = tool.is_allowed(self._options.permissions, self._root)
        options = list(list_objects(params, "options"))
        outcome, is_granted = choose_option(options, is_allowed=is_allowed)
        if not is_granted:
            self._emit({"type": "denied", "text": tool.describe(self._root)})
        return outcome

    def _fail(self, words: str) -> NoReturn:
        """Give up before the prompt: the next attempt would come as far."""
        raise TurnFailedError(TurnFailure("setup", words), "")


def _describe_client() -> dict[str, Any]:
    """Return the parameters of `initialize`: agents read files and run commands themselves."""
    return {
        "protocolVersion": _PROTOCOL_VERSION,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
        },
        "clientInfo": {"name": "cub", "version": __version__},
    }


def _list_values(option: JsonObject) -> list[str]:
    """Return the values of an option, which may be in groups."""
    items = list_objects(option, "options")
    values = (one for item in items for one in (item, *list_objects(item, "options")))
    return [value for one in values if (value := get_text(one, "value"))]


def _join_prompts(system: str, prompt: str) -> str:
    """Return the prompt below the system prompt; with a `/` at its start, it would be a command."""
    text = f"{system.strip()}\n\n{prompt}" if system.strip() else prompt
    return f"Task:\n\n{text}" if text.lstrip().startswith("/") else text
