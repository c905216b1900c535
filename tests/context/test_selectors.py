from __future__ import annotations

from typing import Any

import pytest

from cub.context.selectors import (
    explain_agent_mismatch,
    explain_mismatch,
    explain_path_mismatch,
    list_patterns,
    parse_selectors,
)
from cub.errors import UsageError


def test_selectors_of_one_key_stand_for_any_of_them() -> None:
    assert parse_selectors(["a=1", "b=x=y", "a=2"]) == {"a": ("1", "2"), "b": ("x=y",)}


@pytest.mark.parametrize("pair", ["bad", "=x", ""])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(UsageError, match="invalid selector format"):
        parse_selectors([pair])


@pytest.mark.parametrize(
    ("fields", "pairs", "reason"),
    [
        ({"languages": ["go"]}, ["languages=go"], ""),
        ({"languages": "go"}, ["languages=go"], ""),
        ({"languages": ["python", "c"]}, ["languages=go"], "languages is python, c, not go"),
        ({}, ["languages=go"], ""),
        ({"env": None}, ["env=dev"], ""),
        ({"env": "Prod"}, ["env=prod"], "env is Prod, not prod"),
        ({"n": 1}, ["n=1"], ""),
        ({"n": 2}, ["n=1", "n=3"], "n is 2, not 1 or 3"),
        ({"f": True}, ["f=true"], ""),
        ({"f": False}, ["f=true"], "f is false, not true"),
        ({"v": 1.1}, ["v=1.10"], ""),
        ({"v": "1.1"}, ["v=1.10"], "v is 1.1, not 1.10"),
        ({"v": True}, ["v=True"], ""),
        ({"v": True}, ["v=1"], "v is true, not 1"),
        ({"a": "1", "b": "2"}, ["a=1", "b=3"], "b is 2, not 3"),
        ({"a": {"languages": "go"}}, ["a=x"], ""),
        ({"a": [["x"], "y"]}, ["a=y"], ""),
    ],
)
def test_why_selectors_leave_something_out(
    fields: dict[str, Any], pairs: list[str], reason: str
) -> None:
    assert explain_mismatch(fields, parse_selectors(pairs)) == reason


def test_what_has_to_be_asked_for_needs_one_match() -> None:
    assert explain_mismatch({"a": 1}, {"a": ("1",), "b": ("2",)}, is_opt_in=True) == ""
    assert explain_mismatch({}, {"a": ("1",)}, is_opt_in=True) == "no selector asks for it"


@pytest.mark.parametrize(
    ("fields", "path", "fits"),
    [
        ({}, "x.py", True),
        ({"paths": ["src/**/*.ts"]}, "src/a/b.ts", True),
        ({"paths": ["src/**/*.ts"]}, "src/b.ts", True),
        ({"paths": ["src/**/*.ts"]}, "lib/b.ts", False),
        ({"globs": "*.ts, *.tsx"}, "a/b.tsx", True),
        ({"globs": "**/*.{ts,tsx}"}, "a/b.tsx", True),
        ({"applyTo": "**/*.{ts,tsx},docs/**"}, "docs/x.md", True),
        ({"applyTo": "**"}, "x", True),
        ({"globs": "./src/**"}, "src/a.ts", True),
        ({"globs": ""}, "x", True),
        ({"fileMatchPattern": "api/**"}, "x", False),
        ({"paths": ["src/", "!src/gen/**"]}, "src/gen/x", False),
        ({"globs": [1]}, "1", True),
        ({"globs": "*.ts", "alwaysApply": True}, "x.py", True),
        ({"globs": "*.ts", "alwaysApply": False}, "x.py", False),
        ({"globs": "*.ts", "trigger": "always_on"}, "x.py", True),
        ({"globs": "*.ts", "trigger": "glob"}, "x.py", False),
        ({"fileMatchPattern": "*.ts", "inclusion": "always"}, "x.py", True),
    ],
)
def test_patterns_of_paths(fields: dict[str, Any], path: str, fits: bool) -> None:
    assert (explain_path_mismatch(fields, path) == "") == fits


def test_patterns_are_split_outside_of_braces() -> None:
    assert list_patterns({"globs": "a,{b,c},d", "paths": ["e,f"]}) == ["e", "f", "a", "{b,c}", "d"]


def test_braces_in_braces_hold_their_commas() -> None:
    assert list_patterns({"globs": "{a,{b,c}}/x,d"}) == ["{a,{b,c}}/x", "d"]


@pytest.mark.parametrize(
    ("agent", "fields", "reason"),
    [
        ("cursor", {"alwaysApply": True}, ""),
        ("cursor", {"alwaysApply": False}, "alwaysApply is false"),
        ("cursor", {"alwaysApply": "False", "globs": None}, "alwaysApply is false"),
        ("cursor", {"alwaysApply": False, "globs": "*.ts"}, ""),
        ("cursor", {"trigger": "manual"}, ""),
        ("cursor", {}, ""),
        ("windsurf", {"trigger": "always_on"}, ""),
        ("windsurf", {"trigger": "manual", "globs": "*.ts"}, "trigger is manual"),
        ("windsurf", {"trigger": "model_decision"}, "trigger is model_decision"),
        ("windsurf", {"trigger": "glob"}, "trigger is glob"),
        ("windsurf", {"trigger": "glob", "globs": "*.ts"}, ""),
        ("kiro", {"inclusion": "manual"}, "inclusion is manual"),
        ("kiro", {"inclusion": "fileMatch", "fileMatchPattern": "*.ts"}, ""),
        ("augment", {"type": "agent_requested"}, "type is agent_requested"),
        ("", {"alwaysApply": False}, ""),
        ("claude", {"alwaysApply": False}, ""),
    ],
)
def test_an_agent_leaves_out_rules_by_its_own_field(
    agent: str, fields: dict[str, Any], reason: str
) -> None:
    assert explain_agent_mismatch(fields, agent) == reason


@pytest.mark.parametrize("pattern", ["[z-a]*.ts", "!", "src/[9-0]/**"])
def test_a_pattern_that_cannot_be_read_matches_no_path(pattern: str) -> None:
    reason = explain_path_mismatch({"globs": f"{pattern}, a.ts"}, "a.ts")
    assert reason == f"its patterns can't be read: {pattern}, a.ts"


@pytest.mark.parametrize("pattern", ["[[a]*.ts", "[a||b].ts", "[a--b].ts", "[[:alpha:]].ts"])
def test_brackets_in_brackets_print_no_warning(pattern: str) -> None:
    explain_path_mismatch({"globs": pattern}, "a.ts")  # a warning is an error in the tests
