from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from cub.project.config_schema import build_config_schema
from cub.project.setting_kinds import find_setting_fault
from cub.project.settings import SECTION_DESCRIPTIONS, SETTINGS
from tests.project.test_config_values import BAD, GOOD

VALIDATOR = Draft202012Validator(build_config_schema())
# What a schema does not know: which names are targets, what a specifier is, and that a time may
# not be 0. Its whole numbers may have a fraction of 0.
BEYOND = [["README.md"], ["../AGENTS.md"], "newest", "1.0", "0m", 1.0]


def nested(key: str, value: Any) -> Any:
    for part in reversed(key.replace("*", "NAME").split(".")):
        value = {part: value}
    return value


def test_the_schema_stays_as_it_is(file_regression: Any) -> None:
    file_regression.check(json.dumps(build_config_schema(), indent=2) + "\n", extension=".json")


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(build_config_schema())


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_it_takes_what_cub_takes_and_nothing_else(setting: Any) -> None:
    for value in [*GOOD[setting.kind], *BAD[setting.kind], None, setting.default]:
        if value in BEYOND and find_setting_fault(setting, value):
            continue
        fits = find_setting_fault(setting, value) is None
        assert VALIDATOR.is_valid(nested(setting.key, value)) == fits, value
        if not setting.is_project_only:
            inside = {"profiles": {"fast": nested(setting.key, value)}}
            assert VALIDATOR.is_valid(inside) == fits, value


@pytest.mark.parametrize("section", SECTION_DESCRIPTIONS)
def test_a_section_is_a_mapping_or_nothing(section: str) -> None:
    assert VALIDATOR.is_valid(nested(section, {}))
    assert VALIDATOR.is_valid(nested(section, None))
    assert not VALIDATOR.is_valid(nested(section, []))


@pytest.mark.parametrize("tree", [None, {}, {"zebra": 1}, {"run": {"zebra": 1}}])
def test_unknown_keys_are_kept_so_they_are_valid(tree: Any) -> None:
    assert VALIDATOR.is_valid(tree)


@pytest.mark.parametrize("tree", [[], "words", 3])
def test_a_file_is_a_mapping(tree: Any) -> None:
    assert not VALIDATOR.is_valid(tree)


def test_every_key_is_described() -> None:
    text = json.dumps(build_config_schema())
    assert all(json.dumps(setting.description)[1:-1] in text for setting in SETTINGS)
