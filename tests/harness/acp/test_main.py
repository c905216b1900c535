from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import psutil
import pytest

from tests.actions.run.shop import alive
from tests.harness.acp.talks import USAGE, child, result, said, update

HEAVY_MODULES = "argparse", "cub.masking", "markdown_it", "rich", "psutil", "cub.harness.base"


def finish(
    process: subprocess.Popen[bytes], prompt: bytes | None = b"Do it"
) -> tuple[list[dict[str, Any]], str]:
    out, err = process.communicate(prompt, timeout=60)
    return [json.loads(line) for line in out.splitlines()], err.decode()


def test_the_prompt_is_on_stdin_and_events_are_on_stdout() -> None:
    process = child(said("Status: done"), result(usage=USAGE))
    events, errors = finish(process)
    assert [event["type"] for event in events] == ["session", "text", "usage", "result"]
    assert events[-1] == {"type": "result", "text": "Status: done", "failed": False}
    assert (process.returncode, errors) == (0, "")


def test_a_failure_is_the_last_line_after_what_was_said() -> None:
    process = child(
        "garbage",
        said("I try."),
        {"do": "echo oh >&2"},
        {"error": {"code": 429, "message": "Wait 20s"}},
    )
    events, errors = finish(process)
    assert events[-3:] == [
        {"type": "limit", "text": "Wait 20s"},
        {"type": "text", "text": "Wait 20s", "failed": True},
        {"type": "result", "text": "I try.", "failed": True},
    ]
    assert process.returncode == 1
    assert errors == "oh\n3 lines of the agent's stdout were not messages of the protocol\n"


@pytest.mark.parametrize(("name", "code"), [("no-such-program", 127), ("/", 126)])
def test_an_agent_that_is_not_there_has_a_shells_exit_code(name: str, code: int) -> None:
    argv = [sys.executable, "-m", "cub.harness.acp", "auto", "", "", "", name]
    done = subprocess.run(argv, input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(f"{name}: ".encode())


def wait_for_tool(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Send the prompt, and return the processes of the agent once it says that a tool runs."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"Do it")
    process.stdin.close()
    process.stdin = None
    while json.loads(process.stdout.readline())["type"] != "tool":
        pass
    return psutil.Process(process.pid).children(recursive=True)


TOOL = update("tool_call", toolCallId="t", title="make", kind="execute", status="in_progress")


def test_int_cancels_the_turn_which_still_tells_its_tokens() -> None:
    process = child("child", TOOL, "cancelled", result("cancelled", usage=USAGE))
    left = wait_for_tool(process)
    process.send_signal(signal.SIGINT)
    events, _ = finish(process, None)
    assert [event["type"] for event in events] == ["usage", "text", "result"]
    assert events[-2] == {"type": "text", "text": "the attempt was interrupted", "failed": True}
    assert len(left) == 2
    assert alive(one.pid for one in left) == []


@pytest.mark.parametrize("numbers", [[signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]])
def test_term_waits_for_no_response(numbers: list[signal.Signals]) -> None:
    process = child("child", TOOL, "hang")
    left = wait_for_tool(process)
    for number in numbers:
        process.send_signal(number)
    events, _ = finish(process, None)
    assert events[-2]["text"] == "the attempt was interrupted"
    assert alive(one.pid for one in left) == []


def test_the_start_loads_little() -> None:
    code = "import cub.harness.acp.__main__, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert not {*HEAVY_MODULES} & {*loaded.stdout.split()}
