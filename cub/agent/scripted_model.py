"""Answer with the replies of a YAML file, without any service: for demos and tests.

    conversations:
      - when: "## PREVIOUS ATTEMPT"     # for a prompt that has this text; without it, for any
        replies:
          - text: I look at it first.
            calls:
              - Read: {file_path: price.py}
              - Bash: {command: python -m unittest}
            usage: {input: 1200, output: 30, cache_read: 0, cache_write: 0}
          - text: Done.
            stop: end_turn              # or max_tokens, refusal; tool_use is what calls make it

Of the conversations, the first one that fits the prompt is played, one reply for each request. A
request without tools gets a short summary, unless the `when` of a conversation is in its system
prompt: so judges can be played.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from cub.agent.conversation import ToolCall
from cub.agent.model import ModelError, ModelRequest, ReplyEnd, ReplyEvent, StopReason, TextDelta
from cub.config_edit.nodes import ConfigNode, MappingEntry
from cub.errors import CubError
from cub.files.single_file import read_single_file
from cub.script_reader import NodeReader
from cub.tokens import TokenUsage

_SUMMARY = "The work so far was summarized by a script."
_STOP_REASONS = ("end_turn", "max_tokens", "refusal")


class ScriptedReply(NamedTuple):
    """Hold one reply: its text, and its calls as names with arguments."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    stop_reason: StopReason = "end_turn"
    usage: TokenUsage = TokenUsage()


class ScriptedConversation(NamedTuple):
    """Hold the replies to a prompt that has the text `when`; "" for any prompt."""

    when: str
    replies: tuple[ScriptedReply, ...]


class ScriptedModel:
    """Play the conversation that fits the last prompt, or one before; a reply too many is an error.

    Sub-agents can have conversations of their own, as their prompts are others.
    """

    def __init__(self, conversations: Iterable[ScriptedConversation], name: str = "") -> None:
        self.name = f"scripted/{name}"
        self._conversations = tuple(conversations)
        self._replies = [iter(talk.replies) for talk in self._conversations]
        self._count = 0

    def stream_reply(self, request: ModelRequest) -> Iterator[ReplyEvent]:
        """Yield the next reply. Raises ModelError if there is none."""
        if request.tools:
            prompts = (one.text for one in reversed(request.messages) if one.role == "user")
            replies = next(filter(None, map(self._find_replies, filter(None, prompts))), None)
        else:
            summary = ScriptedReply(_SUMMARY)
            replies = self._find_replies(request.system, is_named=True) or iter([summary])
        reply = next(replies or iter(()), None)
        if reply is None:
            raise ModelError(f"{self.name} has no further reply", "request")
        if reply.text:
            yield TextDelta(reply.text)
        for name, arguments in reply.calls:
            self._count += 1
            yield ToolCall(f"call_{self._count}", name, arguments)
        yield ReplyEnd("tool_use" if reply.calls else reply.stop_reason, reply.usage)

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _find_replies(
        self, prompt: str, *, is_named: bool = False
    ) -> Iterator[ScriptedReply] | None:
        """Return the replies of the first conversation that fits; None if there is none."""
        pairs = zip(self._conversations, self._replies, strict=True)
        fitting = (
            replies
            for talk, replies in pairs
            if talk.when in prompt and (talk.when or not is_named)
        )
        return next(fitting, None)


def load_scripted_model(path: Path, display_path: str) -> ScriptedModel:
    """Return the model for a file. Raises CubError, with the position, if it is not valid."""
    data = read_single_file(path, display_path)
    if data is None:
        hint = "write one: it says what the scripted model replies"
        raise CubError("there is no such file", where=display_path, hint=hint)
    reader, node = _ReplyReader.parse(data, display_path, "conversations")
    items = reader.take_items(node)
    return ScriptedModel(map(reader.take_conversation, items), display_path)


class _ReplyReader(NodeReader):
    """Read values of a file; raise CubError with the position of one that is not valid."""

    def take_conversation(self, node: ConfigNode) -> ScriptedConversation:
        members = self.take_members(node, ("when", "replies"))
        replies = map(self.take_reply, self.take_items(self.find(members, "replies") or node))
        when = self.find(members, "when")
        return ScriptedConversation(self.take_text(when) if when else "", tuple(replies))

    def take_reply(self, node: ConfigNode) -> ScriptedReply:
        members = self.take_members(node, ("text", "calls", "stop", "usage"))
        text, calls = self.find(members, "text"), self.find(members, "calls")
        stop, usage = self.find(members, "stop"), self.find(members, "usage")
        return ScriptedReply(
            self.take_text(text) if text else "",
            tuple(map(self.take_call, self.take_items(calls))) if calls else (),
            cast("StopReason", self.take_word(stop, _STOP_REASONS)) if stop else "end_turn",
            TokenUsage(**self.take_counts(usage, TokenUsage._fields)) if usage else TokenUsage(),
        )

    def take_call(self, node: ConfigNode) -> tuple[str, Mapping[str, Any]]:
        members = self.take_members(node)
        if len(members) != 1:
            raise self.make_error(node, "this is not one call", "write it like `Bash: {…}`")
        name, entry = next(iter(members.items()))
        self.take_members(entry.value)
        return name, entry.value.to_python()

    @staticmethod
    def find(members: Mapping[str, MappingEntry], key: str) -> ConfigNode | None:
        return members[key].value if key in members else None
