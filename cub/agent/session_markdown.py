"""Show a conversation as Markdown, for a person who reads or shares it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.agent.session_file import SessionSummary
from cub.repomap.safe_text import choose_fence
from cub.text import truncate_text

_MAX_TITLE = 80  # characters


def format_session(summary: SessionSummary, messages: Iterable[Message]) -> Iterator[str]:
    """Yield the lines of a document: what the session was, then who said what."""
    yield from (f"# {truncate_text(summary.prompt, _MAX_TITLE) or f'Session {summary.id}'}", "")
    facts = {
        "Session": summary.id,
        "Project": summary.root,
        "Directory": summary.folder,
        "Model": summary.model,
        "Started": summary.started,
        "Last active": summary.active,
        "Turns": f"{summary.turns:,}",
        "Tokens": f"{summary.tokens.total:,}" if any(summary.tokens) else "not reported",
        "Cost": "not known" if summary.usd is None else f"${summary.usd:.2f}",
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)
    names = dict[str, str]()
    for message in messages:
        names |= {call.id: call.name for call in message.calls}
        speaker = "Assistant" if message.role == "assistant" else "User"
        if any(not isinstance(block, ToolResult) for block in message.blocks):
            yield from ("", f"## {speaker}")
        for block in message.blocks:
            yield ""
            yield from _format_block(block, names)


def _format_block(block: Block, names: dict[str, str]) -> Iterator[str]:
    match block:
        case TextBlock():
            yield from block.text.strip("\n").split("\n")
        case ReasoningBlock():
            yield from (f"> {line}".rstrip() for line in block.text.strip("\n").split("\n"))
        case ImageBlock():
            yield f"(an image, {block.media_type})"
        case ToolCall():
            yield from (f"### {block.name}", "")
            text = json.dumps(dict(block.arguments), indent=2, ensure_ascii=False)
            yield from _format_code(block.fault or text, "" if block.fault else "json")
        case ToolResult():
            outcome = "Error" if block.is_error else "Result"
            yield from (f"### {outcome} of {names.get(block.call_id, 'a call')}", "")
            for inner in block.content:
                if isinstance(inner, TextBlock):
                    yield from _format_code(inner.text)
                else:
                    yield from _format_block(inner, names)


def _format_code(text: str, language: str = "") -> Iterator[str]:
    """Yield a block of code, whose fence is in none of its lines."""
    lines = text.strip("\n").split("\n")
    fence = choose_fence(lines)
    yield from (f"{fence}{language}", *lines, fence)
