"""Which values each kind of setting takes, and what is said of others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cub.errors import CubError
from cub.project.config import parse_config
from cub.project.setting_kinds import find_setting_fault
from cub.project.settings import (
    SECTION_DESCRIPTIONS,
    SETTINGS,
    TOP_LEVEL_KEYS,
    find_setting,
)
from cub.text import list_similar, suggest_similar

GOOD: dict[str, list[Any]] = {
    "flag": [True, False],
    "whole": [1, 3, 10**18],
    "number": [0, 0.5, 12],
    "template": ["", "x", "{{x}}"],
    "text": ["", "x", "30m", "a\nb"],
    "time": ["30m", "1.5h", "90s", 1, 0.5, 3600],
    "size": ["64MB", "1.5GB", "0kB", 0, 1000],
    "choice": ["bottom"],
    "choices": [[], ["map"], ["constitution", "map"]],
    "texts": [[], ["a b"]],
    "commands": [[], [{"name": "N", "command": "c", "on_failure": "fail", "timeout": "1m"}]],
    "mapping": [{}, {"A": "b"}],
    "specifier": ["", ">=0.1", "~=1.2,!=1.3"],
    "targets": [[], ["AGENTS.md", "a/CLAUDE.md"]],
}
BAD: dict[str, list[Any]] = {
    "flag": [0, 1, "true", "yes", []],
    "template": [1, ["x"], "{", "{x:>9}", "{0}", "{schema}"],
    "whole": [-1, 1.0, "1", True, [1]],
    "number": [-0.5, "1", False, {}],
    "text": [1, 1.5, True, ["x"], {}],
    "time": ["", "30", "30 m", "0m", "-1s", "1d", "m", 0, -1, -0.5, True, []],
    "size": ["", "64", "64 MB", "64mb", "-1MB", "MB", -1, 1.5, True, []],
    "choice": ["left", "", "Bottom", 1, ["bottom"]],
    "choices": ["map", ["maps"], [1], {}],
    "texts": ["a", [1], [["a"]], {}],
    "commands": ["a", {}, 1, [1], [{"name": "N"}], [{"name": "N", "command": 1}]],
    "mapping": ["a", [], 1],
    "specifier": ["newest", "1.0", 1.0, [">=1"]],
    "targets": ["AGENTS.md", ["README.md"], [1], ["../AGENTS.md"], {}],
}
OF = {setting.kind: setting for setting in reversed(SETTINGS)}


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in GOOD.items() for v in vs])
def test_a_value_of_the_kind_is_taken(kind: str, value: Any) -> None:
    assert find_setting_fault(OF[kind], value) is None


@pytest.mark.parametrize(("kind", "value"), [(k, v) for k, vs in BAD.items() for v in vs])
def test_another_one_is_told_in_words(kind: str, value: Any) -> None:
    found = find_setting_fault(OF[kind], value)
    assert found
    assert found.message.startswith(("must be ", "has ", "is ", "lacks ", "("))
    assert "{" not in found.message.replace(repr(value), "")


def test_every_kind_is_tried() -> None:
    assert set(GOOD) == set(BAD) == set(OF)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_a_default_is_a_value_and_null_is_always_one(setting: Any) -> None:
    assert find_setting_fault(setting, setting.default) is None
    assert find_setting_fault(setting, None) is None
    assert setting.description.endswith(".")
    assert find_setting(setting.path) is setting


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema: one\n", ":1:9: schema must be an integer"),
        ("# x\nschema: true\n", ":2:9: schema must be an integer"),
        ("schema: 99\n", ":1:9: schema: this project was written by a newer cub"),
        ("requires-cub: newest\n", ":1:15: requires-cub must be a version specifier, not 'newest'"),
        ("targets: AGENTS.md\n", ":1:10: targets must be a list of file names"),
        ("targets:\n  - AGENTS.md\n  - 3\n", ":2:3: targets must be a list of file names"),
        (
            "targets: [/etc/AGENTS.md]\n",
            ":1:11: targets[0] ('/etc/AGENTS.md') is not a path inside",
        ),
        (
            "targets: [README.md]\n",
            ":1:11: targets[0] ('README.md') is not a file that cub manages",
        ),
        ("placement: middle\n", ":1:12: placement must be bottom or top, not 'middle'"),
        ("placement: [top]\n", ":1:12: placement must be"),
        ("run: fast\n", ":1:6: run must be a mapping"),
        ("inline: map\n", ":1:9: inline must be a list"),
        ("run:\n  max_attempts: many\n", ":2:17: run.max_attempts must be an integer"),
        (
            "run:\n  max_attempts: 0\n",
            ":2:17: run.max_attempts must be an integer of at least 1",
        ),
        ("run: {budget: 3}\n", ":1:15: run.budget must be a mapping"),
        (
            "run: {budget: {usd: x}}\n",
            ":1:21: run.budget.usd must be a number of at least 0",
        ),
        (
            "run: {timeout: soon}\n",
            ":1:16: run.timeout must be a time such as 90s, 30m, or 2h",
        ),
        ("run: {checks: pytest}\n", ":1:15: run.checks must be a list of strings"),
        ('run: {checks: [pytest, ""]}\n', ":1:24: run.checks[1] is empty"),
        ("run: {commit: yes}\n", ":1:15: run.commit must be true or false, not 'yes'"),
        ("run: {model: 4}\n", ":1:14: run.model must be a string, not 4"),
        ("map: {tokens: 1e3}\n", ":1:15: map.tokens must be an integer"),
        ("ledger: {commit: 1}\n", ":1:18: ledger.commit must be true or false, not 1"),
        ("inline: [map, mapp]\n", ":1:15: inline[1] must be map or constitution, not 'mapp'"),
        ("inline:\n- map\n- 3\n", ":2:1: inline must be a list of words"),
        ("harnesses: [a]\n", ":1:12: harnesses must be a mapping"),
        ("harnesses: {a: x}\n", ":1:16: harnesses.a must be a mapping"),
        ("harnesses: {a: {argv: x}}\n", ":1:23: harnesses.a.argv must be a list of strings"),
        (
            "harnesses:\n  a:\n    prompt: pipe\n",
            ":3:13: harnesses.a.prompt must be stdin, file, or arg, not 'pipe'",
        ),
        ("profiles: {a: [b]}\n", ":1:15: profiles.a must be a mapping"),
        ("profiles: {a: {run: x}}\n", ":1:21: profiles.a.run must be a mapping"),
        (
            "profiles:\n  a:\n    run: {commit: 3}\n",
            ":3:19: profiles.a.run.commit must be true or false, not 3",
        ),
        ("context_commands: {}\n", ":1:19: context_commands must be a list of"),
        (
            "context_commands: [x]\n",
            ":1:20: context_commands[0] must be a mapping",
        ),
        (
            "context_commands:\n- name: A\n  command: b\n- command: c\n",
            ":4:3: context_commands[1] lacks the key 'name'",
        ),
        (
            "context_commands:\n- {name: A, command: ''}\n",
            ":2:3: context_commands[0] lacks the key 'command'",
        ),
        (
            "context_commands:\n- {name: A, command: b, timeout: 0}\n",
            ":2:34: context_commands[0].timeout must be a time",
        ),
        (
            "context_commands:\n- {name: A, command: b, on_failure: stop}\n",
            ":2:37: context_commands[0].on_failure must be warn, ignore, or fail, not 'stop'",
        ),
        (
            "context_parallel: 0\n",
            ":1:19: context_parallel must be an integer of at least 1",
        ),
    ],
)
def test_a_wrong_type_names_line_column_and_key(text: str, said: str) -> None:
    with pytest.raises(CubError) as caught:
        parse_config(text.encode(), version="0.1.0")
    assert f"{caught.value}".startswith(f".cub/config.yaml{said}")


def test_a_long_value_is_cut_in_messages() -> None:
    with pytest.raises(CubError) as caught:
        parse_config(b"placement: " + b"x" * 9_000, version="0.1.0")
    assert len(f"{caught.value}") < 140


def test_the_tables_fit_together() -> None:
    tops = {setting.path[0] for setting in SETTINGS}
    assert set(TOP_LEVEL_KEYS) == {*tops, "profiles"}
    inner = {s.key.rpartition(".")[0].removesuffix(".*") for s in SETTINGS if "." in s.key}
    assert {*inner, "profiles"} == set(SECTION_DESCRIPTIONS)


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("requires_cub", "requires-cub"), ("idle-timeout", "idle_timeout"), ("zebra", "")],
)
def test_a_slip_is_recognized_whatever_joins_its_words(slip: str, meant: str) -> None:
    assert suggest_similar(slip, ("requires-cub", "idle_timeout", "timeout")) == meant


def test_the_nearest_key_comes_first_and_no_more_than_asked_for() -> None:
    keys = ("time_off", "timeouts", "timeout", "zebra")
    assert list_similar("timeout", keys, 2) == ["timeout", "timeouts"]
    assert list_similar("time-off", keys, 1) == ["time_off"]


@pytest.mark.parametrize("key", ["run.branch", "run.message", "profiles.slow.run.branch"])
@pytest.mark.parametrize("value", ["{id:>2000000000}", "{run.__class__}", "{0}", "{"])
def test_a_template_that_holds_more_than_names_is_refused_by_its_place(
    key: str, value: str
) -> None:
    *outer, last = key.split(".")
    tree: object = {last: value}
    for name in reversed(outer):
        tree = {name: tree}
    with pytest.raises(CubError, match="unknown placeholder") as refused:
        parse_config(json.dumps(tree).encode(), version="0.1.0")
    assert refused.value.where.startswith(".cub/config.yaml:1:")
    assert key in refused.value.message
    assert "choose from {" in refused.value.hint
