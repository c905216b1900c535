from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError, UsageError
from cub.harness.acp_harness import AcpHarness
from cub.harness.builtin import BuiltinHarness
from cub.harness.claude import ClaudeHarness
from cub.harness.custom_harness import CustomHarness
from cub.harness.harness_registry import load_harnesses
from cub.harness.native_harness import NativeOptions
from tests.written_files import write_program

MINE = {"argv": ["run"]}
_ALL = "choose from mine, claude, codex, gemini, opencode, aider, pi, builtin, scripted, auto"


def write(path: Path, said: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"tasks: {{a: [{{say: {said}}}]}}")


def test_auto_is_all_that_is_configured(tmp_path: Path) -> None:
    found = load_harnesses(["auto"], {"b": MINE, "a": MINE}, tmp_path, {}).harnesses
    assert [one.name for one in found] == ["b", "a"]


def test_names_keep_their_order_and_count_once(tmp_path: Path) -> None:
    found = load_harnesses(
        ["a", "b", "a", "auto"], {"b": MINE, "c": MINE, "a": MINE}, tmp_path, {}
    ).harnesses
    assert [one.name for one in found] == ["a", "b", "c"]


def test_a_script_has_its_place(tmp_path: Path) -> None:
    write(tmp_path / ".cub/script.yaml", "one")
    write(tmp_path / "other.yaml", "two")
    names = ["scripted", "scripted:other.yaml", f"scripted:{tmp_path}/other.yaml"]
    found = load_harnesses(names, {}, tmp_path, {}).harnesses
    said = [getattr(one, "steps")["a"][0]["say"] for one in found]  # noqa: B009
    assert said == [["one"], ["two"], ["two"]]


def test_a_script_that_is_missing_is_named_as_the_person_did(tmp_path: Path) -> None:
    for name, where in (("scripted", ".cub/script.yaml"), ("scripted:x.yaml", "x.yaml")):
        with pytest.raises(CubError, match="can't be read") as error:
            load_harnesses([name], {}, tmp_path, {})
        assert error.value.where == where


def test_a_configured_client_may_have_any_name(tmp_path: Path) -> None:
    (found,) = load_harnesses(["scripted"], {"scripted": MINE}, tmp_path, {}).harnesses
    assert isinstance(found, CustomHarness)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("mien", "did you mean mine?"), ("scriptd", "did you mean scripted?"),
     ("zzz", _ALL), ("", _ALL)],
)  # fmt: skip
def test_an_unknown_name_is_an_error_with_those_that_are_known(
    tmp_path: Path, name: str, hint: str
) -> None:
    with pytest.raises(UsageError, match="unknown agent") as error:
        load_harnesses([name], {"mine": MINE}, tmp_path, {})
    assert error.value.hint == hint


def test_auto_takes_cubs_own_agent_if_there_is_no_other(tmp_path: Path) -> None:
    chosen = load_harnesses(["auto"], {}, tmp_path, {})
    assert [harness.name for harness in chosen.harnesses] == ["builtin"]
    assert chosen.reason == "no other agent is installed"


def test_the_builtin_agent_takes_settings(tmp_path: Path) -> None:
    settings = {"builtin": {"model": "ollama/qwen3", "env": {"A": "b"}}}
    (harness,) = load_harnesses(["builtin"], settings, tmp_path, {}).harnesses
    assert harness == BuiltinHarness(NativeOptions((), {"A": "b"}, "ollama/qwen3"))


def install(folder: Path, *programs: str) -> dict[str, str]:
    for program in programs:
        write_program(folder / program, "#!/bin/sh\n")
    return {"PATH": str(folder)}


def test_without_a_configuration_auto_is_the_first_agent_that_is_installed(tmp_path: Path) -> None:
    environ = install(tmp_path / "bin", "aider", "codex", "gemini")
    chosen = load_harnesses(["auto"], {}, tmp_path, environ)
    assert [one.name for one in chosen.harnesses] == ["codex"]
    assert chosen.reason == "the first one installed; also installed: gemini, aider"
    chosen = load_harnesses(["auto"], {"gemini": {"model": "m"}}, tmp_path, environ)
    assert [one.name for one in chosen.harnesses] == ["gemini"]


def test_an_entry_for_an_agent_that_cub_knows_changes_only_its_keys(tmp_path: Path) -> None:
    entry = {"args": ["--add-dir", "x"], "env": {"A": "1"}, "model": "opus", "user_settings": False}
    (found,) = load_harnesses(["claude"], {"claude": entry}, tmp_path, {}).harnesses
    assert isinstance(found, ClaudeHarness)
    assert found.options == (("--add-dir", "x"), {"A": "1"}, "opus", False)
    (found,) = load_harnesses(["claude"], {"claude": MINE}, tmp_path, {}).harnesses
    assert isinstance(found, CustomHarness)


def test_an_agent_may_speak_the_agent_client_protocol(tmp_path: Path) -> None:
    configured = {"mine": {"acp": ["run"]}, "claude": {"acp": ["claude-agent-acp"]}}
    names = ["mine", "claude", "acp:run --fast"]
    found = load_harnesses(names, configured, tmp_path, {}).harnesses
    assert [one.name for one in found] == names
    assert [one.argv for one in found if isinstance(one, AcpHarness)] == [
        ("run",), ("claude-agent-acp",), ("run", "--fast"),
    ]  # fmt: skip
