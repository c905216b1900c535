"""Write messages as JSON in a stable form, and read them in it, whichever version wrote them.

docs/reference/code.md has the form. A newer version may add kinds of blocks: its number is then
higher, and an older cub says so instead of leaving something out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
)
from cub.errors import NewerVersionError
from cub.json_values import JsonObject, get_count
from cub.masking import mask_text

MESSAGE_VERSION = 1


def write_message(message: Message) -> dict[str, Any]:
    """Return a message as `{"v": 1, "role": …, "blocks": […]}`, without its secrets.

    Images, and what a service attached to a call, stay as they are. Reasoning that is bound to a
    system prompt is left out: another session has another one.
    """
    blocks = [_write_block(block) for block in message.blocks if not _is_bound(block)]
    return {"v": MESSAGE_VERSION, "role": message.role, "blocks": blocks}


def read_message(tree: JsonObject) -> Message:
    """Return the message that a tree is.

    Raises NewerVersionError for one of a newer version, and ValueError for anything else.
    """
    try:
        if tree["v"] != MESSAGE_VERSION:
            require_known_version(tree)
        if tree["role"] in ("user", "assistant"):
            return Message(tree["role"], tuple(map(_read_block, tree["blocks"])))
    except (KeyError, TypeError):
        pass
    raise ValueError("not a message")


def require_known_version(tree: JsonObject, where: str = "") -> None:
    """Raise NewerVersionError if a newer cub wrote this."""
    version = get_count(tree, "v")
    if version > MESSAGE_VERSION:
        knows = f"knows {MESSAGE_VERSION}"
        raise NewerVersionError("this was saved", f"format {version}", knows, where=where)


def _is_bound(block: Block) -> bool:
    return isinstance(block, ReasoningBlock) and block.is_bound


def _write_block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": mask_text(text)}
        case ImageBlock():
            return {"type": "image", **block._asdict()}
        case ReasoningBlock(model, text, data):
            masked = {"text": mask_text(text), "data": _mask_tree(data)}
            return {"type": "reasoning", "model": model, **masked}
        case ToolCall(call_id, name, arguments):
            tree = {"type": "call", "id": call_id, "name": name, "arguments": _mask_tree(arguments)}
            more = {"fault": block.fault, "extra": dict(block.extra)}
            return tree | {key: value for key, value in more.items() if value}
        case ToolResult(call_id, content):
            inner = list(map(_write_block, content))
            tree = {"type": "result", "call_id": call_id, "content": inner}
            return tree | ({"is_error": True} if block.is_error else {})


def _mask_tree(value: object) -> Any:
    match value:
        case str():
            return mask_text(value)
        case list():
            return list(map(_mask_tree, value))
        case Mapping():
            return {key: _mask_tree(inner) for key, inner in value.items()}
    return value


def _read_block(tree: JsonObject) -> Block:
    match tree["type"]:
        case "call":
            fault, extra = tree.get("fault", ""), tree.get("extra", {})
            return ToolCall(tree["id"], tree["name"], tree["arguments"], fault, extra)
        case "result":
            content = tuple(map(_read_content, tree["content"]))
            return ToolResult(tree["call_id"], content, tree.get("is_error", False))
        case "reasoning":
            return ReasoningBlock(tree["model"], tree["text"], tree["data"])
    return _read_content(tree)


def _read_content(tree: JsonObject) -> TextBlock | ImageBlock:
    match tree["type"]:
        case "text":
            return TextBlock(tree["text"])
        case "image":
            return ImageBlock(tree["media_type"], tree["data"])
    raise ValueError("not a block of a message")
