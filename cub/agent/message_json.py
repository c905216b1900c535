"""Write messages as JSON in a stable form, and read them in it, whichever version wrote them.

docs/reference/code.md has the form. A newer version may add kinds of blocks: its number is then
higher, and an older cub says so instead of leaving something out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

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
from cub.json_values import JsonObject

MESSAGE_VERSION = 1
_Value = TypeVar("_Value")


def write_message(message: Message) -> dict[str, Any]:
    """Return a message as `{"v": 1, "role": …, "blocks": […]}`; what is empty may be left out."""
    blocks = list(map(_write_block, message.blocks))
    return {"v": MESSAGE_VERSION, "role": message.role, "blocks": blocks}


def read_message(tree: JsonObject) -> Message:
    """Return the message that a tree is.

    Raises NewerVersionError for one of a newer version, and ValueError for anything else.
    """
    require_known_version(tree)
    role = _take(tree, "role", str)
    if role not in ("user", "assistant"):
        raise ValueError(f"unknown role {role!r}")
    blocks = map(_read_block, _take(tree, "blocks", list))
    return Message("user" if role == "user" else "assistant", tuple(blocks))


def require_known_version(tree: JsonObject) -> None:
    """Raise NewerVersionError if a newer cub wrote this, and ValueError without a version."""
    version = _take(tree, "v", int)
    if version > MESSAGE_VERSION:
        knows = f"knows {MESSAGE_VERSION}"
        raise NewerVersionError("this was saved", f"format {version}", knows, where="")


def _write_block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return {"type": "image", "media_type": block.media_type, "data": block.data}
        case ReasoningBlock():
            return {"type": "reasoning", **block._asdict(), "data": dict(block.data)}
        case ToolCall():
            more = {"fault": block.fault, "extra": dict(block.extra)}
            return {
                "type": "call",
                "id": block.id,
                "name": block.name,
                "arguments": dict(block.arguments),
                **{key: value for key, value in more.items() if value},
            }
        case ToolResult():
            content = list(map(_write_block, block.content))
            tree = {"type": "result", "call_id": block.call_id, "content": content}
            return tree | ({"is_error": True} if block.is_error else {})


def _read_block(tree: object) -> Block:
    if not isinstance(tree, Mapping):
        raise ValueError("a block is not an object")  # noqa: TRY004 - of a file, not an argument
    kind = tree.get("type")
    read = _READERS.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise ValueError(f"unknown block {kind!r}")
    return read(tree)


def _read_text(tree: JsonObject) -> TextBlock:
    return TextBlock(_take(tree, "text", str))


def _read_image(tree: JsonObject) -> ImageBlock:
    return ImageBlock(_take(tree, "media_type", str), _take(tree, "data", str))


def _read_reasoning(tree: JsonObject) -> ReasoningBlock:
    return ReasoningBlock(
        _take(tree, "model", str), _take(tree, "text", str), _take(tree, "data", dict)
    )


def _read_call(tree: JsonObject) -> ToolCall:
    return ToolCall(
        _take(tree, "id", str),
        _take(tree, "name", str),
        _take(tree, "arguments", dict),
        _take(tree, "fault", str, ""),
        _take(tree, "extra", dict, {}),
    )


def _read_result(tree: JsonObject) -> ToolResult:
    blocks = list[TextBlock | ImageBlock]()
    for item in _take(tree, "content", list):
        block = _read_block(item)
        if not isinstance(block, TextBlock | ImageBlock):
            raise ValueError("a result has something else than text and images")  # noqa: TRY004
        blocks.append(block)
    call_id, is_error = _take(tree, "call_id", str), _take(tree, "is_error", bool, False)
    return ToolResult(call_id, tuple(blocks), is_error)


_READERS: Mapping[str, Callable[[JsonObject], Block]] = {
    "text": _read_text,
    "image": _read_image,
    "reasoning": _read_reasoning,
    "call": _read_call,
    "result": _read_result,
}


def _take(tree: JsonObject, key: str, kind: type[_Value], default: _Value | None = None) -> _Value:
    """Return a value of a type; ValueError if it is of another one, or missing without default."""
    value = tree.get(key, default)
    if type(value) is not kind:
        raise ValueError(f"`{key}` is missing or wrong")
    return value
