from __future__ import annotations

import json
from pathlib import Path

import pytest

from cub.agent.skill_settings import load_configured_skills
from cub.errors import CubError
from cub.project.config_layers import ConfigValue
from tests.context.places import make_reader

UNSET = ConfigValue("code.skill_dirs", [])


def test_directories_of_both_settings_are_read_in_their_order(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    files = {
        "shared/a/SKILL.md": "shared",
        "home/mine/a/SKILL.md": "mine",
        "home/mine/b/SKILL.md": "mine",
        "proj/api/near/c/SKILL.md": "near",
        "proj/api/near/b/SKILL.md": "near",
        "proj/team/c/SKILL.md": "team",
        "home/.claude/settings.json": json.dumps({
            "skillDirs": [str(shared), "~/mine", "near", "C:\\company\\prompts"]
        }),
    }  # fmt: skip
    reader = make_reader(tmp_path, files, "api")
    setting = ConfigValue("code.skill_dirs", ["team"], "user", "~/config.yaml:2", ("c.yaml:3",))
    skills = load_configured_skills(reader, setting).skills
    assert {name: skill.instructions for name, skill in skills.items()} == {
        "a": "mine", "b": "near", "c": "team",
    }  # fmt: skip
    (warning,) = reader.warnings
    assert warning.location == "~/.claude/settings.json:1"
    assert "no such directory" in warning.message


@pytest.mark.parametrize("value", ['"one"', "[1]", "{}"])
def test_a_wrong_value_is_a_warning_with_its_line(tmp_path: Path, value: str) -> None:
    text = f'{{\n  // ours\n  "skillDirs": {value}\n}}\n'
    reader = make_reader(tmp_path, {"home/.claude/settings.json": text})
    assert load_configured_skills(reader, UNSET).skills == {}
    (warning,) = reader.warnings
    assert warning.location == "~/.claude/settings.json:3"
    assert warning.message == "skillDirs is not a list of strings; it is ignored"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"env": {}}'])
def test_settings_without_directories_are_fine(tmp_path: Path, text: str) -> None:
    reader = make_reader(tmp_path, {"home/.claude/settings.json": text})
    assert load_configured_skills(reader, UNSET).skills == {}
    assert reader.warnings == []


def test_settings_that_are_not_json_are_an_error_with_its_place(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"home/.claude/settings.json": '{\n"a"\n}'})
    with pytest.raises(CubError, match=r"~/\.claude/settings\.json:"):
        load_configured_skills(reader, UNSET)


@pytest.mark.parametrize("origin", ["project", "profile"])
def test_a_project_names_only_directories_in_it(tmp_path: Path, origin: str) -> None:
    files = {"proj/team/x/SKILL.md": "ours", "home/private/y/SKILL.md": "secret"}
    reader = make_reader(tmp_path, files)
    setting = ConfigValue("code.skill_dirs", ["team", "~/private"], origin, ".cub/config.yaml:2")  # type: ignore[arg-type]
    assert list(load_configured_skills(reader, setting).skills) == ["x"]
    (warning,) = reader.warnings
    assert "leads out of the project" in warning.message
    assert "config.yaml" in warning.hint
