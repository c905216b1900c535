from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError, UsageError
from cub.harness.custom_harness import CustomHarness
from cub.harness.harness_registry import load_harnesses

MINE = {"argv": ["run"]}


def write(path: Path, said: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"tasks: {{a: [{{say: {said}}}]}}")


def test_auto_is_all_that_is_configured(tmp_path: Path) -> None:
    found = load_harnesses(["auto"], {"b": MINE, "a": MINE}, tmp_path)
    assert [one.name for one in found] == ["b", "a"]


def test_names_keep_their_order_and_count_once(tmp_path: Path) -> None:
    found = load_harnesses(["a", "b", "a", "auto"], {"b": MINE, "c": MINE, "a": MINE}, tmp_path)
    assert [one.name for one in found] == ["a", "b", "c"]


def test_a_script_has_its_place(tmp_path: Path) -> None:
    write(tmp_path / ".cub/script.yaml", "one")
    write(tmp_path / "other.yaml", "two")
    names = ["scripted", "scripted:other.yaml", f"scripted:{tmp_path}/other.yaml"]
    said = [getattr(one, "steps")["a"][0]["say"] for one in load_harnesses(names, {}, tmp_path)]  # noqa: B009
    assert said == [["one"], ["two"], ["two"]]


def test_a_script_that_is_missing_is_named_as_the_person_did(tmp_path: Path) -> None:
    for name, where in (("scripted", ".cub/script.yaml"), ("scripted:x.yaml", "x.yaml")):
        with pytest.raises(CubError, match="can't be read") as error:
            load_harnesses([name], {}, tmp_path)
        assert error.value.where == where


def test_a_configured_client_may_have_any_name(tmp_path: Path) -> None:
    (found,) = load_harnesses(["scripted"], {"scripted": MINE}, tmp_path)
    assert isinstance(found, CustomHarness)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("mien", "did you mean mine?"), ("scriptd", "did you mean scripted?"),
     ("zzz", "there are mine, scripted, auto"), ("", "there are mine, scripted, auto")],
)  # fmt: skip
def test_an_unknown_name_is_an_error_with_those_that_are_known(
    tmp_path: Path, name: str, hint: str
) -> None:
    with pytest.raises(UsageError, match="there is no agent") as error:
        load_harnesses([name], {"mine": MINE}, tmp_path)
    assert error.value.hint == hint


def test_auto_needs_a_configuration(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no agent is configured") as error:
        load_harnesses(["auto"], {}, tmp_path)
    assert ".cub/config.yaml" in error.value.hint
