"""Write messages as JSON in a stable form, and read them in it, whichever version wrote them.

docs/reference/code.md has the form. A newer version may add kinds of blocks: its number is then
higher, and an older cub says so instead of leaving something out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cub.agent.conversation import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    drop_bound_reasoning,
)
from cub.errors import NewerVersionError
from cub.json_values import JsonObject, get_count
from cub.masking import mask_tree

MESSAGE_VERSION = 1
_BlockType = type[TextBlock | ImageBlock | ReasoningBlock | ToolCall | ToolResult]
_CONTENT: dict[str, _BlockType] = {"text": TextBlock, "image": ImageBlock}
_BLOCKS = {**_CONTENT, "reasoning": ReasoningBlock, "call": ToolCall, "result": ToolResult}
_NAMES = {kind: name for name, kind in _BLOCKS.items()}
_MASKED = ("text", "data", "arguments")
# All other fields are strings.
_TYPES: dict[str, type | tuple[type, ...]] = {
    "data": (str, dict),
    "arguments": dict,
    "extra": dict,
    "content": list,
    "is_error": bool,
}


def write_message(message: Message) -> dict[str, Any]:
    """Return a message as `{"v": 1, "role": …, "blocks": […]}`, without its secrets.

    Images, and what a service attached to a call, stay as they are. Reasoning that is bound to a
    system prompt is left out: another session has another one.
    """
    blocks = list(map(_write_block, drop_bound_reasoning(message).blocks))
    return {"v": MESSAGE_VERSION, "role": message.role, "blocks": blocks}


def read_message(tree: JsonObject, where: str = "") -> Message:
    """Return the message that a tree is; `where` is its place in errors.

    Raises NewerVersionError for one of a newer version, and ValueError for anything else.
    """
    try:
        if tree["v"] != MESSAGE_VERSION:
            require_known_version(tree, where)
        if tree["role"] in ("user", "assistant"):
            return Message(tree["role"], _read_blocks(tree["blocks"], _BLOCKS))
    except (KeyError, TypeError):
        pass
    raise ValueError("not a message")


def require_known_version(tree: JsonObject, where: str) -> None:
    """Raise NewerVersionError if a newer cub wrote this."""
    version = get_count(tree, "v")
    if version > MESSAGE_VERSION:
        knows = f"knows {MESSAGE_VERSION}"
        raise NewerVersionError("this was saved", f"format {version}", knows, where=where)


def _write_block(block: Block) -> dict[str, Any]:
    """Return the fields of a block; those that have a default are there if they differ from it."""
    tree = block._asdict()
    if isinstance(block, ToolResult):
        tree["content"] = list(map(_write_block, block.content))
    elif not isinstance(block, ImageBlock):
        tree |= {key: mask_tree(tree[key]) for key in _MASKED if key in tree}
    shown = {key: tree[key] for key in tree if tree[key] or key not in block._field_defaults}
    return {"type": _NAMES[type(block)], **shown}


def _read_blocks(trees: Iterable[JsonObject], kinds: Mapping[str, _BlockType]) -> tuple[Any, ...]:
    return tuple(_read_block(tree, kinds[tree["type"]]) for tree in trees)


def _read_block(tree: JsonObject, kind: _BlockType) -> Block:
    fields = {key: tree[key] for key in kind._fields if key in tree}
    if not all(isinstance(value, _TYPES.get(key, str)) for key, value in fields.items()):
        raise TypeError
    if kind is ToolResult:
        fields["content"] = _read_blocks(fields["content"], _CONTENT)
    return kind(**fields)
