"""What a definition is: a name that a source file gives to others."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal[
    "class", "struct", "interface", "trait", "enum", "type", "module", "function", "method",
    "macro", "constant", "variable",
]  # fmt: skip


class Definition(NamedTuple):
    """`line` counts from 1; `signature` is one line without body, docstring or decorators.

    `member_of` is the name of the class (type, module …) that it belongs to, "" at the top level.
    `exported`: other files may use it, by the rules of its language.
    """

    name: str
    kind: Kind
    line: int
    signature: str
    member_of: str = ""
    exported: bool = True
