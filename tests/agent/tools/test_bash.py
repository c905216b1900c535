from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from cub.agent.tools.bash import BASH, MAX_CHARS, BashArguments, _read_timeout, run_shell_command
from cub.agent.tools.command_environment import remove_secrets
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError, parse_arguments
from cub.errors import CubError
from cub.processes.orphans import kill_by_environment
from tests.agent.tools.context import call, open_context
from tests.processes.programs import ORPHAN, STUBBORN


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    """Fails a test that leaves a process behind."""
    mark = "CUB_TEST_MARK", uuid.uuid4().hex
    assert remove_secrets(dict([mark]))  # a command has it
    with open_context(tmp_path, **dict([mark])) as made:
        yield made
    assert kill_by_environment(mark) == 0


def run(context: ToolContext, command: str, timeout: int = 20) -> str:
    return run_shell_command(BashArguments(command, timeout), context).text


def test_the_exit_code_comes_before_the_output(context: ToolContext) -> None:
    assert run(context, "echo hello") == "The command exited with code 0.\nhello"
    assert run(context, "true") == "The command exited with code 0."


def test_a_command_that_fails_has_a_result(context: ToolContext) -> None:
    assert run(context, "echo no >&2; exit 3") == "The command exited with code 3.\nno"
    assert run(context, "kill -9 $$").startswith("The command exited with code -9 (Killed).")


def test_stdout_and_stderr_keep_their_order(context: ToolContext) -> None:
    text = run(context, "for n in 1 2 3; do echo out $n; echo err $n >&2; done")
    lines = ["out 1", "err 1", "out 2", "err 2", "out 3", "err 3"]
    assert text.splitlines()[1:] == lines


def test_a_command_runs_in_the_folder(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    inner = replace(context, folder=context.root / "sub")
    assert run(inner, "pwd").splitlines()[1:] == [str(context.root / "sub")]


def test_a_command_may_use_what_bash_has(context: ToolContext) -> None:
    if not Path("/bin/bash").exists():
        pytest.skip("there is no bash")
    assert run(context, "cat <(echo a)\n[[ b == b ]] && echo b").splitlines()[1:] == ["a", "b"]


def test_stdin_is_at_its_end(context: ToolContext) -> None:
    assert run(context, "cat; read name || echo none").splitlines()[1:] == ["none"]


def test_a_timeout_says_so(context: ToolContext) -> None:
    text = run(context, "echo begin; exec sleep 60", timeout=1)
    assert text == "The command timed out after 1 seconds.\nbegin"


@pytest.mark.thorough
def test_a_timeout_ends_what_ignores_signals(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    start = time.monotonic()
    text = run(context, f"echo begin; {sys.executable} -I stubborn.py", timeout=1)
    assert text.startswith("The command timed out after 1 seconds.\nbegin\n")
    assert time.monotonic() - start < 10


def test_a_stop_ends_what_runs(context: ToolContext) -> None:
    timer = Timer(0.05, context.stop.request)
    timer.start()
    assert run(context, "echo begin; sleep 60; echo end").startswith("The command was stopped.")
    timer.join()


def test_what_a_command_leaves_behind_is_ended(context: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "orphan.py").write_text(ORPHAN)
    start = time.monotonic()
    text = run(context, f"sleep 60 & {sys.executable} -I orphan.py; echo done")
    assert text.startswith("The command exited with code 0.")
    assert text.endswith("\ndone")
    assert time.monotonic() - start < 10


def test_both_ends_of_a_huge_output_are_kept(context: ToolContext) -> None:
    text = run(context, "echo begin; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end")
    assert len(text) < MAX_CHARS + 200
    assert text.splitlines()[1] == "begin"
    assert text.endswith("x\nend")
    assert "\n… the middle of 50,000,011 bytes is left out …\n" in text


def test_output_is_plain_text(context: ToolContext) -> None:
    text = run(context, r"printf '\033[31mred\033[0m\n10%%\r99%%\n\377\n'")
    assert text.splitlines()[1:] == ["red", "99%", "\ufffd"]


def test_secrets_in_the_output_are_masked(context: ToolContext, tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "aB3dE5gH7j" * 4
    (tmp_path / ".env").write_text(f"ANTHROPIC_API_KEY={key}\nMODE=fast\n")
    text = run(context, "cat .env")
    assert key not in text
    assert text.splitlines()[1:] == ["ANTHROPIC_API_KEY=[masked]", "MODE=fast"]


def test_a_command_sees_no_secret(context: ToolContext) -> None:
    environ = {**context.environ, "GITHUB_TOKEN": "abc", "CUB_TASK": "cub-1"}
    text = run(replace(context, environ=environ), 'echo "[$GITHUB_TOKEN] [$CUB_TASK]"')
    assert text.splitlines()[1:] == ["[] [cub-1]"]


GIT = (
    "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c core.editor='sleep 60 #' "
    "-c sequence.editor='sleep 60 #' -c commit.gpgSign=false"
)


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("git commit --allow-empty", "Aborting commit due to empty commit message."),
        ("git tag -a v1", "fatal: no tag message?"),
        ("git commit -q --amend && git log -1 --format=%s", "three"),
        ("git merge -q side && git log -1 --format=%s", "Merge branch 'side'"),
        ("git revert HEAD >/dev/null && git log -1 --format=%s", 'Revert "three"'),
        ("git rebase -i HEAD~2 2>&1 | head -1", "set GIT_SEQUENCE_EDITOR to a command that edits"),
        (
            """GIT_SEQUENCE_EDITOR="sed -i.bak '2s/pick/squash/'" git rebase -q -i HEAD~2 &&
            git log -1 --format=%B""",
            "three\n",
        ),
        ("${VISUAL:-vi} notes; ${EDITOR:-vi} notes || echo failed", "failed"),
        ("git -c core.pager='sleep 60 #' log -1 --format=%s; echo $PAGER $TERM", "three\ncat dumb"),
    ],
)
def test_nothing_waits_for_an_editor_or_a_pager(
    context: ToolContext, command: str, end: str
) -> None:
    commits = "git init -q; git commit -q --allow-empty -m {}; git checkout -q -b side"
    commits += "; git commit -q --allow-empty -m s; git checkout -q main"
    commits += "; echo 2 > f; git add f; git commit -qm two; echo 3 > f; git commit -qam three"
    terminal = {"EDITOR": "sleep 60 #", "GIT_EDITOR": "sleep 60 #", "TERM": "xterm"}
    on_terminal = replace(context, environ={**context.environ, **terminal})
    run(context, commits.format("one").replace("git ", f"{GIT} "))
    text = run(on_terminal, command.replace("git ", f"{GIT} "))
    assert text.startswith("The command exited with code")
    assert end.strip() in text


def test_git_asks_for_no_name_and_no_password(context: ToolContext) -> None:
    needs_login = 'git credential fill <<< "url=https://localhost/"'
    isolated = {**context.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(context.root)}
    text = run(replace(context, environ=isolated), needs_login)
    assert "terminal prompts disabled" in text


@pytest.mark.parametrize(("timeout", "seconds"), [(10_000, 10), (120_000, 120), (600_000, 600)])
def test_a_timeout_that_can_only_be_in_milliseconds_is(timeout: int, seconds: int) -> None:
    assert _read_timeout(timeout) == seconds


def test_a_timeout_may_say_that_it_is_in_milliseconds(context: ToolContext) -> None:
    execute = BASH.bind({"command": "echo $$; exec sleep 60", "timeoutMs": 300})
    assert execute(context).text.startswith("The command timed out after 1 seconds.")


@pytest.mark.parametrize("timeout", [0, -1, 601, 3600, 601_000])
def test_a_timeout_is_in_seconds(context: ToolContext, timeout: int) -> None:
    with pytest.raises(ToolError, match="in seconds, from 1 to 600"):
        run(context, "true", timeout)


def test_a_command_in_the_background_is_an_error(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="in the background") as caught:
        call(BASH, context, command="true", run_in_background=True)
    assert "in one call" in caught.value.hint


def test_a_folder_that_is_gone_is_an_error(context: ToolContext) -> None:
    with pytest.raises(ToolError, match="could not be started"):
        run(replace(context, folder=context.root / "gone"), "true")


def test_a_zero_byte_is_an_error(context: ToolContext) -> None:
    with pytest.raises(CubError, match="zero byte"):
        run(context, "echo \0")


def test_a_call_is_about_its_command() -> None:
    values = {"command": "ls", "description": "List files", "timeout": 5}
    assert BASH.get_subject(values) == "ls"
    assert parse_arguments(BashArguments, values) == BashArguments("ls", 5, "List files")
    assert not BASH.is_concurrent
