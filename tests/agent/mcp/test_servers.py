from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cub.agent.mcp.server_config import ServerSurroundings
from cub.agent.mcp.server_tools import make_server_tools
from cub.agent.mcp.servers import McpServers
from cub.agent.tools.tool_arguments import ToolError
from cub.edit.plan import PlanWarning
from cub.processes.command import StopRequest
from tests.agent.mcp.pools import WHERE, find_status, make_config, open_servers

pytest.importorskip("mcp", reason="the extra mcp is not installed")

FLOODED = "it sent more than 16,000,000 bytes without an answer"


@pytest.fixture
def stop() -> Iterator[StopRequest]:
    request = StopRequest()
    yield request
    request.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def call(servers: McpServers, tool: str, stop: StopRequest, **arguments: object) -> str:
    result = servers.call_tool("one", tool, arguments, stop)
    return "".join(block.text for block in result.content if block.type == "text")


def test_servers_that_fail_say_why_and_cost_no_other(folder: Path) -> None:
    configs = [
        make_config("one"),
        make_config("broken", "exit"),
        make_config("lost", argv=("no-such-program",)),
        make_config("folder", argv=("/",)),
        make_config("prompts", "no-tools"),
        make_config("odd", "odd-list"),
    ]
    with open_servers(folder, *configs) as servers:
        rows = [(row.name, row.state, row.reason) for row in servers.list_servers()]
        assert rows == [
            ("one", "connected", ""),
            ("broken", "failed", "it exited with code 3: no module named tickets"),
            ("lost", "failed", "no-such-program is not in PATH"),
            ("folder", "failed", "/ is not there"),
            ("prompts", "connected", ""),
            ("odd", "failed", "its answer is not valid: tools: Input should be a valid list"),
        ]
        assert [tool.name for tool in find_status(servers, "one").tools][:2] == ["echo", "count"]


def test_a_tool_that_is_not_valid_costs_no_other_of_its_server(folder: Path) -> None:
    warnings = list[PlanWarning]()
    with open_servers(folder, make_config("odd", "odd-tools")) as servers:
        assert list(make_server_tools(servers, (), warnings)) == ["mcp__odd__good"]
    said = ", ".join(f"'{name}' (its schema is not valid)" for name in ("one", "None", "5"))
    assert [warning.message for warning in warnings] == [
        f"the MCP server odd has tools that can't be used: {said}"
    ]


def test_a_server_that_does_not_answer_fails_at_the_time_limit(folder: Path) -> None:
    configs = [make_config("mute", "hang-start"), make_config("listless", "hang-list")]
    with open_servers(folder, *configs, start_seconds=0.2) as servers:
        reasons = {row.reason for row in servers.list_servers()}
    assert reasons == {
        "it did not start in 0.2 seconds; raise `code.mcp.timeout` if it needs longer"
    }


def test_what_is_no_message_is_passed_over(folder: Path, stop: StopRequest) -> None:
    with open_servers(folder, make_config("one", "garbage")) as servers:
        assert call(servers, "echo", stop, text="é\n") == '{"text": "\\u00e9\\n"}'


def test_a_refusal_and_a_call_without_an_answer_cost_that_call(
    folder: Path, stop: StopRequest
) -> None:
    with open_servers(folder, make_config("one", call_seconds=0.2)) as servers:
        with pytest.raises(ToolError, match="the MCP server one refused the call: not now"):
            call(servers, "refuse", stop)
        with pytest.raises(ToolError, match="its answer is not valid: content: Field required"):
            call(servers, "odd", stop)
        with pytest.raises(ToolError, match=r"one did not answer in 0\.2 seconds") as caught:
            call(servers, "hang", stop)
        assert WHERE in caught.value.hint
        assert int(call(servers, "count", stop)) > 4  # the same process


@pytest.mark.parametrize(
    ("tool", "reason"),
    [("die", "it exited with code 7: no more disk"), ("flood", FLOODED), ("notify", FLOODED)],
)
def test_a_server_that_ends_or_floods_costs_the_call_and_is_started_again(
    folder: Path, stop: StopRequest, tool: str, reason: str
) -> None:
    with open_servers(folder, make_config("one")) as servers:
        first = call(servers, "count", stop)
        with pytest.raises(ToolError) as caught:
            call(servers, tool, stop)
        assert caught.value.message == f"the MCP server one failed during the call: {reason}"
        assert find_status(servers, "one").state == "failed"
        assert call(servers, "count", stop) == first  # a new process counts from the start
        assert find_status(servers, "one").state == "connected"


def test_a_server_that_is_gone_between_calls_is_started_again(
    folder: Path, stop: StopRequest
) -> None:
    with open_servers(folder, make_config("one", "quit")) as servers:
        for _ in range(2):  # it quits again after each list
            with pytest.raises(ToolError, match=r"the MCP server one .*: it exited"):
                call(servers, "count", stop)
    assert (folder / "starts").read_text() in ("xx", "xxx")  # once again for each call, at most


def test_a_stop_cancels_the_call_and_not_the_server(folder: Path, stop: StopRequest) -> None:
    with open_servers(folder, make_config("one")) as servers:
        stop.request()
        started = time.monotonic()
        with pytest.raises(ToolError, match="the call was stopped"):
            call(servers, "hang", stop)
        assert time.monotonic() < started + 20
        stop.reset()
        assert call(servers, "echo", stop) == "{}"


def test_a_stop_ends_the_wait_for_servers(folder: Path, stop: StopRequest) -> None:
    surroundings = ServerSurroundings(folder, {"PATH": os.environ["PATH"]}, 60.0)
    servers = McpServers([make_config("mute", "hang-start")], surroundings)
    try:
        stop.request()
        servers.wait_until_decided(stop)
        assert find_status(servers, "mute").state == "starting"
    finally:
        servers.close()
    assert find_status(servers, "mute").reason == "it was stopped"


def test_servers_can_be_closed_while_one_that_was_too_slow_is_ended(folder: Path) -> None:
    surroundings = ServerSurroundings(folder, {"PATH": os.environ["PATH"]}, 0.3)
    servers = McpServers([make_config("slow", "stay")], surroundings)
    deadline = time.monotonic() + 20
    while not (folder / "ends").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    started = time.monotonic()
    servers.close()
    assert time.monotonic() < started + 20


def test_a_server_gets_its_folder_and_no_variables_but_those_it_was_given(
    folder: Path, stop: StopRequest
) -> None:
    with open_servers(folder, make_config("one", env={"TOKEN": "t1"})) as servers:
        seen = json.loads(call(servers, "show_environ", stop))
    assert seen.pop("folder") == str(folder)
    seen.pop("LC_CTYPE", None)  # of Python itself
    assert seen == {"PATH": os.environ["PATH"], "TOKEN": "t1"}


def test_closing_ends_a_server_with_all_that_it_started(folder: Path, stop: StopRequest) -> None:
    with open_servers(folder, make_config("one")) as servers:
        child = int(call(servers, "start_child", stop))
        os.kill(child, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
