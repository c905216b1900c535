from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from cub.errors import CubError, UsageError
from cub.project.config_layers import (
    ResolvedConfig,
    get_environment_variable,
    merge_layers,
    parse_layer_bytes,
    parse_setting_value,
)
from cub.project.settings import SETTINGS, find_setting

PROJECT = b"""\
# the project's
targets: [CLAUDE.md]
run:
  model: project
  max_attempts: 7
harnesses:
  ours: {argv: [ours]}
  both: {argv: [project]}
profiles:
  fast: {run: {model: fast, timeout: 1m}, placement: top, harnesses: {quick: {prompt: arg}}}
"""
USER = b"""\
run: {model: user, branch: user, commit: false}
placement: top
map: {tokens: 9}
harnesses: {both: {argv: [user]}, mine: {argv: [mine]}}
profiles:
  fast: {run: {model: never}}
  slow: {run: {model: slow}}
"""


def layers(
    environ: Mapping[str, str] | None = None,
    *,
    project: bytes = PROJECT,
    user: bytes = USER,
    profile: str | None = None,
) -> ResolvedConfig:
    own, mine = (
        parse_layer_bytes(project, ".cub/config.yaml"),
        parse_layer_bytes(user, "~/user.yaml"),
    )
    return merge_layers(own, mine, environ or {}, profile)


@pytest.mark.parametrize(
    ("key", "value", "origin", "where"),
    [
        ("schema", None, "default", ""),
        ("placement", "bottom", "default", ""),
        ("run.timeout", "30m", "default", ""),
        ("run.branch", "user", "user", "~/user.yaml:1"),
        ("run.commit", False, "user", "~/user.yaml:1"),
        ("targets", ["CLAUDE.md"], "project", ".cub/config.yaml:2"),
        ("run.model", "project", "project", ".cub/config.yaml:4"),
        ("harnesses.both", {"argv": ["project"]}, "project", ".cub/config.yaml:8"),
        ("harnesses.mine", {"argv": ["mine"]}, "user", "~/user.yaml:4"),
        ("harnesses.mine.argv", ["mine"], "user", "~/user.yaml:4"),
        ("harnesses.mine.prompt", "stdin", "default", ""),
        ("profiles.slow", {"run": {"model": "slow"}}, "user", "~/user.yaml:7"),
        ("profiles.slow.run.model", "slow", "user", "~/user.yaml:7"),
        ("run.budget", {"usd": None, "tokens": None, "iterations": None}, "several", ""),
        ("ledger", {"commit": True}, "several", ""),
    ],
)
def test_every_value_has_its_origin(key: str, value: Any, origin: str, where: str) -> None:
    found = layers().find_value(key)
    assert (found.key, found.value, found.origin, found.where) == (key, value, origin, where)


def test_later_layers_win_one_key_at_a_time() -> None:
    found = layers({"CUB_RUN_TIMEOUT": "2m", "CUB_RUN_CHECKS": "[a, b c]"}, profile="fast")
    got = {
        key: (found.find_value(key).value, found.find_value(key).where)
        for key in ("run.model", "run.timeout")
    }
    assert got == {
        "run.model": ("fast", "profile fast"),
        "run.timeout": ("2m", "CUB_RUN_TIMEOUT"),
    }
    assert found.find_value("run.checks").value == ["a", "b c"]
    assert found.find_value("run.max_attempts").where == ".cub/config.yaml:5"
    assert found.find_value("harnesses.quick").where == "profile fast"


def test_personal_values_of_the_project_s_keys_are_not_taken() -> None:
    found = layers({"CUB_TARGETS": "{", "CUB_MAP_TOKENS": "3"}, profile="fast")
    told = [(w.location, w.message.partition(" is ignored here")[0]) for w in found.warnings]
    assert [one for one in told if one[1].startswith("'")] == [
        ("~/user.yaml:2", "'placement'"),
        ("~/user.yaml:3", "'map.tokens'"),
        (".cub/config.yaml:10", "'placement'"),
        ("CUB_TARGETS", "'targets'"),
        ("CUB_MAP_TOKENS", "'map.tokens'"),
    ]
    assert found.find_value("placement").value == "bottom"
    assert found.find_value("map.tokens").value == 1500


def test_rows_come_in_the_order_of_the_table_with_names_in_their_place() -> None:
    keys = [row.key for row in layers().list_values()]
    plain = [s.key for s in SETTINGS if "*" not in s.key]
    assert [key for key in keys if not key.startswith(("harnesses.", "profiles."))] == plain
    at = keys.index("ledger.commit")
    assert keys[at - 3 : at] == ["harnesses.both", "harnesses.mine", "harnesses.ours"]
    assert keys[-2:] == ["profiles.fast", "profiles.slow"]


def test_without_names_the_mapping_itself_is_a_row() -> None:
    rows = {row.key: row.value for row in layers(project=b"", user=b"").list_values()}
    assert rows["harnesses"] == rows["profiles"] == {}


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        ("CUB_RUN_MAX_ATTEMPTS", "many", "must be an integer of at least 1, not 'many'"),
        ("CUB_RUN_COMMIT", "no", "must be true or false, not 'no'"),
        ("CUB_RUN_CHECKS", "[a", "cannot read '[a': "),
        ("CUB_RUN_CHECKS", "\udce9", "byte 0xe9 is not UTF-8"),
        ("CUB_RUN_BUDGET_USD", "-1", "must be a number of at least 0, not -1"),
    ],
)
def test_a_wrong_variable_is_named(name: str, words: str, said: str) -> None:
    with pytest.raises(CubError) as caught:
        layers({name: words})
    assert caught.value.where == name
    assert said in caught.value.message


@pytest.mark.parametrize("name", ["CUB_SHARED", "CUB_LOG", "CUB_HARNESSES", "CUB_RUN", "RUN_MODEL"])
def test_other_variables_are_ignored(name: str) -> None:
    assert layers({name: "{"}).list_values() == layers().list_values()


@pytest.mark.parametrize("words", ["", "null", "~"])
def test_a_variable_that_says_nothing_sets_nothing(words: str) -> None:
    assert layers({"CUB_RUN_MODEL": words}).find_value("run.model").value == "project"


def test_every_variable_stands_for_one_key() -> None:
    names = [get_environment_variable(setting) for setting in SETTINGS if "*" not in setting.key]
    assert len(set(names)) == len(names)
    assert {"CUB_REQUIRES_CUB", "CUB_RUN_IDLE_TIMEOUT", "CUB_RUN_BUDGET_USD"} < set(names)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("fasst", "did you mean 'fast'?"), ("zebra", "choose from fast, slow")],
)
def test_an_unknown_profile_is_a_usage_error(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match="unknown profile") as caught:
        layers(profile=name)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("run.modl", "did you mean 'run.model'?"),
        ("budget", "did you mean 'run.budget'?"),
        ("zebra", "run `cub config show` to list all keys"),
        ("", "run `cub config show` to list all keys"),
        ("run.model.x", "did you mean 'run.model'?"),
        ("harnesses.our.argv", "did you mean 'harnesses.ours'?"),
    ],
)
def test_an_unknown_key_is_a_usage_error(key: str, hint: str) -> None:
    with pytest.raises(UsageError, match="unknown key") as caught:
        layers().find_value(key)
    assert caught.value.hint == hint


def test_what_a_profile_does_not_set_is_said_so() -> None:
    with pytest.raises(UsageError, match=r"'profiles.slow.run.branch' is not set"):
        layers().find_value("profiles.slow.run.branch")


@pytest.mark.parametrize(
    ("key", "words", "value"),
    [
        ("run.message", "{type}({id}): {title}", "{type}({id}): {title}"),
        ("run.model", "4", "4"),
        ("run.model", "'4'", "4"),
        ("run.model", "null", None),
        ("requires-cub", ">=0.1", ">=0.1"),
        ("run.max_attempts", "4", 4),
        ("run.timeout", "90", 90),
        ("run.timeout", "90s", "90s"),
        ("run.checks", "[a b, 'c']", ["a b", "c"]),
        ("run.commit", "true", True),
        ("placement", "top", "top"),
        ("context_commands", "", None),
        ("unknown", "{a: 1}", {"a": 1}),
    ],
)
def test_words_are_yaml_but_a_text_needs_no_quotes(key: str, words: str, value: Any) -> None:
    assert parse_setting_value(words, find_setting(tuple(key.split(".")))) == value
