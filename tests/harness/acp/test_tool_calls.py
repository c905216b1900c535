from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cub.harness.acp.tool_calls import ReportedCall, choose_option


def tool(*pieces: dict[str, Any]) -> ReportedCall:
    call = ReportedCall()
    for piece in pieces:
        call.update(piece)
    return call


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([{"title": "Write new.py", "kind": "edit", "locations": [{"path": "/p/new.py"}]}],
         "edit: Write new.py"),
        ([{"title": "Edit", "kind": "edit", "content": [{"type": "diff", "path": "/p/a/b.py"}]}],
         "Edit (a/b.py)"),
        ([{"title": "bash", "kind": "execute", "rawInput": {"command": "ls\n-l"}}],
         "execute: bash ls -l"),
        ([{"title": "Terminal", "kind": "execute"}, {"title": "`ls`"}], "execute: `ls`"),
        ([{"title": "`ls -l`", "kind": "execute", "rawInput": {"command": "ls -l"}}],
         "execute: `ls -l`"),
        ([{"title": "Ask", "kind": "other"}], "Ask"),
        ([{"title": "x" * 500}], "x" * 200),
        ([{"title": 5, "kind": [], "rawInput": {"command": " "}, "locations": 3}], ""),
    ],
)  # fmt: skip
def test_a_tool_call_in_a_few_words(pieces: list[dict[str, Any]], text: str) -> None:
    assert tool(*pieces).describe(Path("/p")) == text


@pytest.mark.parametrize(
    ("pieces", "told"),
    [
        ([{"title": "Preparing", "kind": "edit", "status": "pending"}], [False]),
        ([{"title": "Preparing", "status": "pending"}, {"title": "Write a"}], [False, True]),
        ([{"title": "bash", "kind": "execute"}, {"status": "in_progress"}], [False, True]),
        ([{"title": "ls", "status": "completed"}], [True]),
        ([{"kind": "edit"}, {"rawOutput": "x"}], [False, False]),
    ],
)
def test_a_tool_call_is_told_once_it_says_enough(
    pieces: list[dict[str, Any]], told: list[bool]
) -> None:
    call = ReportedCall()
    assert [call.update(piece) for piece in pieces] == told


@pytest.mark.parametrize(
    ("piece", "is_allowed"),
    [
        ({"kind": "edit", "locations": [{"path": "a.py"}]}, True),
        ({"kind": "read", "locations": [{"path": "$root/sub/a.py"}]}, True),
        ({"kind": "execute", "title": "make"}, True),
        ({"kind": "execute", "rawInput": {"cwd": "/"}}, False),
        ({"kind": "edit", "locations": [{"path": "../a.py"}]}, False),
        ({"kind": "edit", "locations": [{"path": "a.py"}, {"path": "/etc/hosts"}]}, False),
        ({"kind": "edit", "locations": [{"path": "link/a.py"}]}, False),
        ({"kind": "edit", "locations": [{"path": "a\0b"}]}, False),
        ({"content": [{"type": "diff", "path": "a.py"}]}, True),
        ({"content": [{"type": "diff", "path": "/a.py"}]}, False),
        ({"kind": "fetch"}, False),
        ({"kind": "switch_mode"}, False),
        ({"kind": "other"}, False),
        ({}, False),
    ],
)
def test_auto_allows_what_work_inside_of_the_project_needs(
    tmp_path: Path, piece: dict[str, Any], is_allowed: bool
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    for item in (*piece.get("locations", ()), *piece.get("content", ())):
        item["path"] = item["path"].replace("$root", str(root))
    assert tool(piece).is_allowed("auto", root) is is_allowed
    assert tool(piece).is_allowed("bypass", root)


def choose(*kinds: str, is_allowed: bool) -> tuple[Any, bool]:
    options = [{"optionId": f"o-{kind}", "kind": kind} for kind in kinds]
    outcome, is_granted = choose_option(options, is_allowed=is_allowed)
    return outcome.get("optionId"), is_granted


def test_an_option_is_chosen_by_its_kind() -> None:
    everything = ("allow_always", "reject_always", "allow_once", "reject_once")
    assert choose(*everything, is_allowed=True) == ("o-allow_once", True)
    assert choose(*everything, is_allowed=False) == ("o-reject_once", False)
    assert choose("allow_always", "reject_always", is_allowed=True) == ("o-reject_always", False)
    assert choose("allow_always", is_allowed=True) == (None, False)
    assert choose_option([{"kind": "allow_once"}], is_allowed=True)[0] == {"outcome": "cancelled"}
