from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cub.harness.base import AgentEvent, Transcript
from cub.harness.builtin import BuiltinHarness
from cub.harness.native_harness import NativeOptions
from tests.harness.agent_streams import collect_events, make_request


def test_the_command_is_cub_code_with_the_contract_as_a_file(tmp_path: Path) -> None:
    command = BuiltinHarness().build_command(make_request(tmp_path))
    assert command.argv[:3] == (sys.executable, "-I", "-c")
    words = command.argv[5:]
    assert words == (
        "code", "--output-format", "stream-json", "--trust", "--no-context-exec", "--no-save",
        "--permissions", "accept-edits", "--allow", "Bash",
        "--append-system-prompt-file", str(tmp_path / "system.md"),
    )  # fmt: skip
    assert command.stdin == b"Do it."


def test_the_models_of_the_run_and_of_the_configuration_are_handed_over(tmp_path: Path) -> None:
    harness = BuiltinHarness(NativeOptions(("--max-turns", "9"), model="ollama/qwen3"))
    assert "ollama/qwen3" in harness.build_command(make_request(tmp_path)).argv
    request = make_request(tmp_path, model="openai/gpt-5", system_prompt="")
    argv = harness.build_command(request).argv
    assert argv[-4:] == ("--model", "openai/gpt-5", "--max-turns", "9")


def test_bypass_needs_no_rule(tmp_path: Path) -> None:
    argv = BuiltinHarness().build_command(make_request(tmp_path, permissions="bypass")).argv
    assert "--allow" not in argv
    assert "bypass" in argv


@pytest.mark.parametrize(("code", "failed", "expected"), [(0, False, True), (1, True, False),
                         (0, True, False), (-9, False, False), (None, False, False)])  # fmt: skip
def test_success_is_a_result_and_exit_code_0(
    code: int | None, failed: bool, expected: bool
) -> None:
    transcript = collect_events(AgentEvent("result", "Done.", failed=failed))
    assert BuiltinHarness().is_success(transcript, code) is expected
    assert not BuiltinHarness().is_success(Transcript(), 0)


def test_a_scripted_model_needs_no_packages() -> None:
    assert BuiltinHarness().explain_missing("scripted/replies.yaml") == ""
