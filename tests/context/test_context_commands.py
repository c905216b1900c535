from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.context.context_commands import (
    CommandEnvironment,
    CommandLimits,
    CommandOutput,
    ContextCommand,
    list_output_warnings,
    make_cli_commands,
    parse_context_commands,
    quote_parameters,
    run_context_command,
    run_context_commands,
)
from cub.errors import CubError
from cub.processes.command import ProcessResult, StopRequest


def run(folder: Path, *lines: str, parallel: int = 8) -> list[CommandOutput]:
    environment = CommandEnvironment(folder, os.environ)
    return run_context_commands(make_cli_commands(lines), environment, parallel)


def text_of(folder: Path, line: str, **parameters: str) -> str:
    environment = CommandEnvironment(folder, os.environ, parameters)
    return run_context_command(make_cli_commands([line])[0], environment).text


def test_outputs_come_in_the_order_of_the_commands(tmp_path: Path) -> None:
    assert [o.text for o in run(tmp_path, "sleep 0.2; echo a", "echo b", "echo c")] == [*"abc"]


def test_one_after_another_if_asked_for(tmp_path: Path) -> None:
    lines = ("sleep 0.2; echo 1 >> log; cat log", "echo 2 >> log; cat log")
    assert [o.text for o in run(tmp_path, *lines, parallel=1)] == ["1", "1\n2"]


def test_stderr_follows_stdout(tmp_path: Path) -> None:
    assert text_of(tmp_path, "echo err >&2; echo out") == "out\n\nerr"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r"printf 'a\000b\033[31mred\033[0m'", "abred"),
        (r"printf 'a\377b'", "a\ufffdb"),
        ("printf '\\n\\n  M x\\n\\n'", "  M x"),
        ("cat", ""),
        ("echo ' '", ""),
        ("echo AKIAQ3EGW5TJDNV7XM2K", "AKIA************[masked]"),
    ],
)
def test_output_is_plain_text_without_secrets(tmp_path: Path, line: str, text: str) -> None:
    found = text_of(tmp_path, line)
    assert found == text if "masked" not in text else "Q3EGW5TJDNV7XM2K" not in found


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ("true", 0, ""),
        ("exit 3", 3, "Command exited with code 3"),
        ("kill -9 $$", -9, "Command exited with code -9 (Killed)"),
        ("no-such-program-here", 127, "Command exited with code 127"),
    ],
)
def test_how_it_ended(tmp_path: Path, line: str, code: int, problem: str) -> None:
    (output,) = run(tmp_path, line)
    assert (output.exit_code, output.problem) == (code, problem)


def test_a_folder_that_is_gone_is_a_problem_of_the_command(tmp_path: Path) -> None:
    (output,) = run(tmp_path / "gone", "true")
    assert output.problem.startswith("Command could not be started: ")


@pytest.mark.parametrize(
    "line",
    [
        "sleep 77 | cat",
        "(sleep 77; echo late); true",
        "trap '' TERM INT; echo here; while :; do sleep 0.1; done",
    ],
)
def test_a_time_limit_ends_all_that_was_started(tmp_path: Path, line: str) -> None:
    command = ContextCommand("T", line, "--exec", timeout=0.3)
    environment = CommandEnvironment(tmp_path, {**os.environ, "CUB_TEST_MARK": str(tmp_path)})
    (output,) = run_context_commands([command], environment, 1)
    assert output.problem == "Command timed out after 0.3 seconds"
    assert output.exit_code is None
    assert find_marked(tmp_path) == []


@pytest.mark.parametrize(
    ("item", "hints"),
    [
        ({}, ["`context_timeout` and", "`context_max_output` and"]),
        ({"timeout": 0.1}, ["`timeout` of this command and", "`context_max_output` and"]),
        ({"max_output": 1}, ["`context_timeout` and", "`max_output` of this command and"]),
    ],
)
def test_a_hint_names_the_key_that_changes_the_limit(
    item: dict[str, object], hints: list[str]
) -> None:
    full = {"name": "N", "command": "echo 12; sleep 9", **item}
    (command,) = parse_context_commands([(full, "here")], CommandLimits(0.1, 1))
    result = ProcessResult(None, None, "wall", "", 0.1)
    output = CommandOutput(command, result, "1", left_out=2, total=3)
    shown = [warning.hint for warning in list_output_warnings([output])]
    assert [hint.partition(" and ")[0] + " and" for hint in shown] == hints


def find_marked(mark: Path) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("CUB_TEST_MARK") == str(mark):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_what_a_command_leaves_behind_costs_no_time(tmp_path: Path) -> None:
    (output,) = run(tmp_path, "sleep 77 & echo done")
    assert (output.text, output.problem) == ("done", "")
    assert output.result.seconds < 10  # of 77: a loaded machine takes its time


def test_the_ends_of_a_long_output_are_taken(tmp_path: Path) -> None:
    command = ContextCommand("T", "seq 100000", "--exec", max_output=1000)
    (output,) = run_context_commands([command], CommandEnvironment(tmp_path, os.environ), 1)
    lines = output.text.splitlines()
    assert (lines[0], lines[-1]) == ("1", "100000")
    assert [line for line in lines if "left out" in line] == ["… 587,895 bytes left out …"]
    assert len(output.text) < 1100


def test_a_failure_that_counts_ends_the_others(tmp_path: Path) -> None:
    commands = [
        ContextCommand("Slow", "sleep 77", "--exec"),
        ContextCommand("T", "echo why; exit 2", ".cub/config.yaml:3", "fail"),
        ContextCommand("Waits", "touch started", "--exec"),
    ]
    with pytest.raises(CubError) as caught:
        run_context_commands(commands, CommandEnvironment(tmp_path, os.environ), 2)
    assert str(caught.value) == (".cub/config.yaml:3: the context command 'T' exited with code 2")
    assert caught.value.details == ("$ echo why; exit 2", "why")
    assert not (tmp_path / "started").exists()


def test_a_request_to_stop_ends_all(tmp_path: Path) -> None:
    stop = StopRequest()
    stop.request()
    commands = make_cli_commands(["sleep 77", "sleep 78"])
    outputs = run_context_commands(commands, CommandEnvironment(tmp_path, os.environ), 2, stop)
    stop.close()
    assert {output.problem for output in outputs} == {"Command was stopped"}


def test_the_items_of_a_configuration_are_commands() -> None:
    items = [{"name": "A", "command": "a"}, {"name": "B", "command": "b", "timeout": "1m"}]
    items.append({"name": "C", "command": "c", "on_failure": "IGNORE", "max_output": "1kB"})
    first, second, third = parse_context_commands(((i, "here") for i in items), CommandLimits())
    assert first == ContextCommand("A", "a", "here", "warn", 10.0, 65_536)
    assert second.timeout == 60
    assert (third.on_failure, third.max_output) == ("ignore", 1024)


def test_what_ran_is_told_in_one_line(tmp_path: Path) -> None:
    (output,) = run(tmp_path, "echo x\nexit 4")
    line = output.to_audit_line()
    assert line.startswith(r"ran 'echo x\nexit 4' (--exec): exited with code 4, ")
    assert line.endswith(" s, 1 characters")


HOSTILE = ["$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "', "a  *  b"]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(
    "line",
    [
        "printf '%s' ${v}",
        "printf '%s' \"${v}\"",
        "printf '%s' \"$(printf '%s' \"${v}\")\"",
        "printf '%s' x${v}x",
    ],
)
def test_no_value_of_a_parameter_is_run(tmp_path: Path, line: str, value: str) -> None:
    text = text_of(tmp_path, line, v=value)
    assert text.strip("x") == value
    assert list(tmp_path.iterdir()) == []


@given(st.text(st.sampled_from("ab \"'`$(){};|&<>\\*?#!~\n"), max_size=20))
def test_quoting_changes_nothing_in_quotes(value: str) -> None:
    for quoted in (f'"{value}'.replace('"', "") + '"', "'" + value.replace("'", "") + "'"):
        line = f"echo {quoted}" if quoted.startswith("'") else f'echo "{quoted}'
        if "\\" not in value:
            assert quote_parameters(line, {"v": ""}) == line


def test_other_braces_are_left_alone() -> None:
    line = "docker ps --format '{{.Names}}' ${HOME} ${v:-x} ${vv} \\${v}"
    assert quote_parameters(line, {"v": ""}) == line
    assert quote_parameters("echo $(( ${v} + 1 ))", {"v": ""}) == "echo $(( ${v} + 1 ))"
    assert quote_parameters("cat <<E\n${v}\nE", {"v": ""}) == "cat <<E\n${v}\nE"
    assert quote_parameters("a ${v}b", {"v": ""}) == 'a "${v}"b'


def test_fifty_megabytes_take_little_memory(tmp_path: Path) -> None:
    (output,) = run(tmp_path, "head -c 50000000 /dev/zero | tr '\\0' a")
    assert len(output.text) < 66_000
    assert "49,934,464 bytes left out" in output.text


def test_commands_run_at_the_same_time(tmp_path: Path) -> None:
    # Each waits for a file of the other one.
    lines = [
        f"touch {mine}; for i in $(seq 100); do [ -e {other} ] && exec echo ok; sleep 0.05; done"
        for mine, other in (("a", "b"), ("b", "a"))
    ]
    start = time.monotonic()
    assert [o.text for o in run(tmp_path, *lines)] == ["ok", "ok"], time.monotonic() - start


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('printf "%s" "$PATH" ${PATH} "${PATH%.py}" "${#PATH}"', "src/a.pysrc/a.pysrc/a8"),
        ("printf %s ${HOME}", "b c"),
        ("printf %s ${LD_PRELOAD}; env | grep -c '^LD_PRELOAD='", "x.so0"),
        ("printf '%s' '$PATH' \\$PATH \"\\$PATH\"", "$PATH$PATH$PATH"),
        ("sh -c 'printf %s $HOME'", "/home/ann"),
        ('printf %s "$(printf %s "$HOME")"', "b c"),
        ("cat <<E\nit's ${PATH}\nE", "it's src/a.py"),
        ("printf %s ${my.name} ${PATHS:-none}", "dotnone"),
    ],
)
def test_a_parameter_replaces_no_variable(tmp_path: Path, line: str, text: str) -> None:
    parameters = {"PATH": "src/a.py", "HOME": "b c", "LD_PRELOAD": "x.so", "my.name": "dot"}
    variables = {"PATH": os.environ["PATH"], "HOME": "/home/ann"}
    environment = CommandEnvironment(tmp_path, variables, parameters)
    (output,) = run_context_commands(make_cli_commands([line]), environment, 1)
    assert output.text == text
