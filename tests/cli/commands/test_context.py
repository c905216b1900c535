from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Result, call_cub
from tests.context.places import write_files

FILES = {
    "AGENTS.md": "# Ovens\n",
    ".agents/rules/go.md": "---\nlanguages: [go]\n---\n# Go\n",
    ".agents/rules/py.md": "---\nlanguages: [python]\n---\n# Python\n",
    ".agents/tasks/fix.md": "Fix ${issue}.\n",
}
CONFIG = ".cub/config.yaml"


def context(folder: Path, *words: str, stdin: str = "") -> Result:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home)}
    return call_cub(["context", *words], cwd=folder, environ=environ, stdin=stdin)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_files(tmp_path, FILES)
    (tmp_path / ".cub").mkdir()
    return tmp_path


def test_the_text_goes_to_stdout_and_the_rest_to_stderr(project: Path) -> None:
    done = context(project, "fix", "-p", "issue=42", "-s", "languages=go")
    assert done.code == 0
    assert done.out == "# Go\n\n# Ovens\n\nFix 42.\n\n"
    assert done.err.splitlines() == [
        "Found 3 rule files, 2 of them taken",
        "Selected task: fix (.agents/tasks/fix.md)",
        "Estimated tokens: 7",
    ]


def test_quiet_and_another_folder_and_another_estimate(project: Path) -> None:
    quiet = context(project, "fix", "-q", "-p", "issue=1")
    assert quiet.err == ""
    other = context(project, "--estimator", "simple", "--prompt", "P", "-C", ".agents")
    assert other.out == "# Go\n\n# Python\n\n# Ovens\n\nP"
    assert "Estimated tokens: 16\n" in other.err


def test_without_arguments_the_rules_are_printed(project: Path) -> None:
    done = context(project)
    assert (done.code, done.out) == (0, "# Go\n\n# Python\n\n# Ovens\n\n")
    assert done.err == "Found 3 rule files\nEstimated tokens: 6\n"


@pytest.mark.parametrize("words", [(), ("--explain",), ("--agent", "codex"), ("--json",)])
def test_an_empty_context_says_so(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = context(tmp_path, *words)
    assert done.code == 0
    assert (
        "warning: there is nothing to print\n"
        "hint: write rules to AGENTS.md, or pass a task file or --prompt\n"
    ) in done.err
    assert done.err.count("warning:") == 1


def test_what_a_bootstrap_prints_stands_under_its_name(project: Path) -> None:
    script = project / ".agents/rules/go-bootstrap"
    script.write_text("#!/bin/sh\necho one; echo two >&2; exit 4\n", encoding="utf-8")
    script.chmod(0o755)
    done = context(project, "--trust", "--prompt", "P")
    assert done.err.splitlines()[:4] == [
        "Bootstrap: .agents/rules/go-bootstrap",
        "one",
        "two",
        "The bootstrap .agents/rules/go-bootstrap exited with code 4.",
    ]
    assert (done.code, done.out) == (0, "# Go\n\n# Python\n\n# Ovens\n\nP")
    assert "Bootstrap" not in context(project, "--trust", "--no-bootstrap", "--prompt", "P").err
    untrusted = context(project, "--prompt", "P")
    assert "go-bootstrap: this bootstrap is not trusted and was not run" in untrusted.err


def test_what_ran_is_logged_for_debugging(project: Path) -> None:
    write_files(project, {CONFIG: "context_commands:\n- {name: N, command: 'echo a'}\n"})
    done = context(project, "--trust", "--debug", "--prompt", "P", "--exec", "exit 3")
    lines = [line for line in done.err.splitlines() if line.startswith("ran ")]
    assert [line.partition(" s,")[0].rpartition(",")[0] for line in lines] == [
        f"ran 'echo a' ({CONFIG}:1): succeeded",
        "ran 'exit 3' (--exec): exited with code 3",
    ]


def test_a_failure_that_counts_prints_no_context(project: Path) -> None:
    item = "{name: N, command: 'echo why; exit 2', on_failure: fail}"
    write_files(project, {CONFIG: f"context_commands: [{item}]\n"})
    done = context(project, "--trust", "--prompt", "P")
    assert (done.code, done.out) == (1, "")
    assert f"error: {CONFIG}:1: the context command 'N' exited with code 2\n" in done.err


def test_a_profile_has_a_list_of_its_own(project: Path) -> None:
    lists = "context_commands: [{name: A, command: echo a}]\nprofiles:\n  p:\n    "
    lists += "context_commands: [{name: B, command: echo b}]\n"
    write_files(project, {CONFIG: lists})
    done = context(project, "--trust", "--profile", "p", "--prompt", "P", "--resume")
    assert done.out == "--- Context: B ---\nb\n--- End Context ---\n\nP"


def test_nobody_to_ask_means_no(project: Path) -> None:
    done = context(project, "--prompt", "P", "--exec", "touch ran", "--confirm-context-exec")
    assert (done.code, done.out) == (1, "")
    assert not (project / "ran").exists()


def test_explain_lists_what_is_in_and_runs_nothing(project: Path) -> None:
    words = ("fix", "-s", "languages=go", "--explain", "--exec", "touch ran")
    done = context(project, *words)
    assert [line.split() for line in done.out.splitlines()] == [
        ["source", "agents", "tokens", "why"],
        [".agents/rules/go.md", "2", "in"],
        [".agents/rules/py.md", "left", "out:", "languages", "is", "python,", "not", "go"],
        ["AGENTS.md", "Codex,", "Copilot", "and", "8", "more", "2", "in"],
        [".agents/tasks/fix.md", "4", "in"],
        ["CLI", "Command", "1", "(--exec)", "would", "run"],
        ["in", "all", "8"],
    ]
    assert not (project / "ran").exists()


def test_json_has_the_text_and_its_sources(project: Path) -> None:
    done = context(project, "fix", "-p", "issue=1", "--json", "--exec", "echo x")
    tree: dict[str, Any] = json.loads(done.out)
    assert tree["context"].endswith("--- End Context ---\n\nFix 1.\n\n")
    assert tree["task"] == ".agents/tasks/fix.md"
    assert [row["kind"] for row in tree["sources"]] == ["rule", "rule", "rule", "command", "task"]
    (command,) = tree["commands"]
    assert (command["name"], command["exit"], command["problem"]) == ("CLI Command 1", 0, "")


def test_bytes_that_are_not_utf_8_do_not_end_it(project: Path) -> None:
    (project / "CLAUDE.md").write_bytes(b"a\xffb")
    assert "a\ufffdb" in context(project, "--prompt", "P").out


def test_hidden_variables_reach_no_command(project: Path) -> None:
    write_files(project, {CONFIG: "run:\n  hide_env: [OVEN_*]\n"})
    environ = {**os.environ, "HOME": str(project), "OVEN_KEY": "x1", "SHOP": "x2"}
    script = project / ".agents/rules/go-bootstrap"
    script.write_text('#!/bin/sh\necho "[$OVEN_KEY$SHOP]"\n', encoding="utf-8")
    script.chmod(0o755)
    inline = '---\nexpand_commands: true\n---\n!`echo "<$OVEN_KEY$SHOP>"`\n'
    write_files(project, {".agents/tasks/fix.md": inline})
    words = ["context", "fix", "--trust", "--exec", 'echo "($OVEN_KEY$SHOP)"']
    done = call_cub(words, cwd=project, environ=environ)
    assert "[x2]" in done.err
    assert "(x2)" in done.out
    assert "<x2>" in done.out


@pytest.mark.thorough
def test_the_text_is_the_same_under_every_hash_seed(project: Path) -> None:
    words = [sys.executable, "-m", "cub", "context", "fix", "-p", "issue=1", "--json"]
    home = {"HOME": str(project / "home"), "PATH": os.environ["PATH"]}
    outputs = set()
    for seed in range(20):
        environ = {**home, "PYTHONHASHSEED": str(seed)}
        done = subprocess.run(words, cwd=project, env=environ, capture_output=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1
