"""Describe an agent's tool calls, and decide which of them it may make."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cub.json_values import JsonObject, get_object, get_text, list_objects

_MAX_TEXT = 200  # characters
_MAX_PATHS = 5
# What work in a project needs. `fetch` leads out of it, and `switch_mode` changes what is allowed.
_ALLOWED_KINDS = ("read", "edit", "delete", "move", "search", "execute", "think")
_END_STATUSES = ("completed", "failed")
# What a tool of Claude, Gemini, opencode, and Codex (its reviewer) says if a rule denies it.
_DENIAL = re.compile(
    r"(?:Permission denied: )?Permission to use .* has been denied"
    r"|Tool execution (?:for .* )?denied"
    r"|The user has specified a rule which prevents you"
    r"|Status: Denied"
)


class ReportedCall:
    """Hold what an agent has said of a tool call so far, in several pieces.

    `is_reported`: the person has been told of it. `is_open`: it has not ended.
    """

    def __init__(self) -> None:
        self.title = self.kind = self.command = self.folder = ""
        self.paths = dict[str, None]()
        self.has_diff = self.is_reported = False
        self.is_open = True

    def update(self, tree: JsonObject) -> bool:
        """Take a piece into account; return whether it says enough to tell a person.

        The first title may be a mere name: the next one, or the start of the tool, has more.
        """
        is_first = not self.title and not self.kind
        self.title = get_text(tree, "title") or self.title
        self.kind = get_text(tree, "kind") or self.kind
        values = get_object(tree, "rawInput")
        self.command = get_text(values, "command") or self.command
        self.folder = get_text(values, "cwd") or self.folder
        self.paths |= dict.fromkeys(_list_paths(tree))
        self.has_diff |= any(one.get("type") == "diff" for one in list_objects(tree, "content"))
        self.is_open &= tree.get("status") not in _END_STATUSES
        return tree.get("status") in ("in_progress", *_END_STATUSES) or not (
            is_first or not get_text(tree, "title")
        )

    def describe(self, root: Path) -> str:
        """Return the action in a few words: its kind, its title, and the paths of files."""
        title = " ".join((self.title or self.kind).split())
        if self.command.strip() and self.command.split()[0] not in title:
            title = f"{title} {self.command}"
        if self.kind not in ("", "other") and self.kind not in title.lower().split():
            title = f"{self.kind}: {title}"
        names = [
            os.path.relpath(path, root) if path.startswith("/") else path for path in self.paths
        ]
        new = [name for name in names if posixpath.basename(name) not in title]
        title += f" ({', '.join(new[:_MAX_PATHS])})" if new else ""
        return " ".join(title.split())[:_MAX_TEXT]

    def is_allowed(self, permissions: str, root: Path) -> bool:
        """Return whether the agent may do it: with `auto`, what work inside of the project needs.

        A command may do anything, so its folder decides.
        """
        if permissions == "bypass":
            return True
        kind = "edit" if self.has_diff and not self.kind else self.kind
        paths = [*self.paths, *filter(None, [self.folder])]
        return kind in _ALLOWED_KINDS and all(_is_inside(path, root) for path in paths)


def choose_option(options: Sequence[JsonObject], *, is_allowed: bool) -> tuple[JsonObject, bool]:
    """Return the answer to a request for permission, and whether it allows what was asked.

    Options count by their kind, because each agent has its own ids. Nothing is allowed for longer
    than this once.
    """
    kinds = ("allow_once",) if is_allowed else ()
    for kind in (*kinds, "reject_once", "reject_always"):
        for option in options:
            if option.get("kind") == kind and (option_id := get_text(option, "optionId")):
                return {"outcome": "selected", "optionId": option_id}, kind == "allow_once"
    return {"outcome": "cancelled"}, False


def find_denial(tree: JsonObject) -> str:
    """Return the words with which the agent's own rules denied a tool call; "" if none did."""
    if tree.get("status") != "failed":
        return ""
    texts = (get_text(one, "content", "text") for one in list_objects(tree, "content"))
    return next((text for text in texts if _DENIAL.match(text)), "")


def _list_paths(tree: JsonObject) -> Iterator[str]:
    for name in ("locations", "content"):
        for item in list_objects(tree, name):
            if path := get_text(item, "path"):
                yield path


def _is_inside(path: str, root: Path) -> bool:
    """Return whether a path leads into the project, through links or not."""
    try:
        return (root / path).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        return False
