"""docs/reference/code.md has the tools, events, reasons, providers and limits of the code."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest

from cub.agent import agent_types, retries
from cub.agent.conversation import ReasoningBlock, ToolCall, ToolResult
from cub.agent.events import (
    CacheStatistics,
    Compaction,
    GateCheck,
    GateEnd,
    GateStart,
    GateVerdict,
    Question,
    ReplyText,
    RequestRetry,
    ResultSource,
    ServersConnect,
    SessionEnd,
    SessionEndReason,
    SessionEvent,
    SubagentEvent,
    ToolEnd,
    ToolStart,
    TurnEnd,
)
from cub.agent.executor import MAX_CONCURRENT
from cub.agent.loop import MAX_CUT_REPLIES
from cub.agent.memory import MAX_OWN_TEXT
from cub.agent.model import MAX_RETRY_AFTER, TextDelta
from cub.agent.model_settings import (
    DEFAULT_COMPACTION_THRESHOLD,
    DEFAULT_MAX_OUTPUT_TOKENS,
    PROVIDERS,
)
from cub.agent.old_results import MAX_OLD_RESULT, RECENT_RESULTS
from cub.agent.permissions import PermissionMode
from cub.agent.repetition import MAX_REPEATS, WAIT_SECONDS, WARNED_REPEATS
from cub.agent.skill_tool import SkillArguments
from cub.agent.skills import MAX_DESCRIPTION_CHARS, MAX_DESCRIPTION_TOKENS
from cub.agent.subagents import SKILL, TASK, TaskArguments
from cub.agent.summaries import RECENT_MESSAGES
from cub.agent.tools import bash, http_get, web_search
from cub.agent.tools.tool_arguments import build_schema
from cub.agent.tools.tool_text import MAX_RESULT_CHARS
from cub.agent.tools.toolset import TOOLS
from cub.cli.session_output import choose_printer
from cub.cli.terminal_session.command_table import COMMANDS
from cub.tokens import TokenUsage
from tests.agent.doubles import FakeModel, close_stops, make_session, make_toolbox
from tests.docs.pages import DOCS
from tests.docs.test_tables import rows

PAGE = DOCS / "reference" / "code.md"
TEXT = " ".join(PAGE.read_text(encoding="utf-8").split())
_CODE = re.compile(r"`([^`]+)`")

CALL = ToolCall("call_1", "Read", {"file_path": "bread.py"})
RESULT = ToolResult("call_1", ())
EVENTS: tuple[SessionEvent, ...] = (
    ReasoningBlock("m", "Hm.", {}),
    ReplyText("Hello."),
    ToolStart(CALL, "Read bread.py"),
    Question(CALL, "", "outside of the project", "", lambda _: None),  # the person sees it
    ToolEnd(CALL, RESULT, "denied", 0.1, "Read bread.py"),
    SubagentEvent("Explore 1", ToolStart(CALL, "Read bread.py")),
    RequestRetry(1, 1.0, "limit", "too many requests"),
    RequestRetry(1, 1.0, "login", "a wrong key"),
    RequestRetry(1, 1.0, "service", "not there"),
    TurnEnd(1, "end_turn", TokenUsage(1, 1, 1, 1), 0.1, "m"),
    Compaction("micro", 2, 1),
    GateStart(1, 3),
    GateCheck("make test", is_ok=False, summary="test_bread failed"),
    GateVerdict("Correctness", None, "no answer"),
    GateEnd(1, is_accepted=False, request="Fix it."),
    ServersConnect(("tickets",)),
    CacheStatistics(0, 0, 0, 0, 0),
)
ENDS = (SessionEnd("end_turn", "Done."), SessionEnd("error", "", "no such model", "request"))


def cells(header: str) -> list[list[str]]:
    return list(rows(PAGE, header))


def test_the_events_and_their_keys_are_those_that_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unprinted = {TextDelta, ServersConnect}
    assert {type(event) for event in (*EVENTS, *ENDS)} >= {*get_args(SessionEvent)} - unprinted
    printer = choose_printer("stream-json", DOCS, is_debug=False)
    with printer.follow(""):
        for event in EVENTS:
            printer.show(event)
    session = make_session(make_toolbox(DOCS, []), FakeModel())
    for end in ENDS:
        printer.finish(session, end)
    close_stops()
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    expected = {tree["type"]: [key for key in tree if key != "type"] for tree in printed}
    table = {
        name: _CODE.findall(row[1]) for row in cells("`type`") for name in _CODE.findall(row[0])
    }
    assert table == expected


def test_the_sources_of_a_result_are_listed() -> None:
    (meaning,) = (row[2] for row in cells("`type`") if row[0] == "`tool_result`")
    assert set(get_args(ResultSource)) <= set(_CODE.findall(meaning))


def test_the_reasons_are_those_of_the_code_and_of_the_schema() -> None:
    reasons = list(get_args(SessionEndReason))
    assert [row[0].strip("`") for row in cells("`reason`")] == reasons
    schema = json.loads((DOCS / "reference" / "schemas" / "code.json").read_text())
    assert schema["properties"]["reason"]["enum"] == reasons


def test_the_tools_and_their_arguments_are_those_of_the_code() -> None:
    expected = {}
    schemas = {tool.name: tool.schema for tool in TOOLS.values()}
    own = {TASK: build_schema(TaskArguments), SKILL: build_schema(SkillArguments)}
    for name, schema in (schemas | own).items():
        expected[name] = [
            one if one in schema["required"] else f"[{one}]" for one in schema["properties"]
        ]
    table = {row[0].strip("`"): _CODE.findall(row[1]) for row in cells("Tool")}
    assert {name: sorted(names) for name, names in table.items()} == {
        name: sorted(names) for name, names in expected.items()
    }


def test_the_providers_are_those_of_the_code() -> None:
    table = [[cell.strip("`") for cell in (row[0], *row[2:])] for row in cells("Provider")]
    assert [row[:4] for row in table if len(row) == 4] == [
        [one.name, one.base_url or "the vendor's", one.base_url_variable, one.key_variable]
        for one in PROVIDERS
    ]


def test_the_default_models_are_those_of_the_code() -> None:
    table = [[cell.strip("`") for cell in row[:3]] for row in cells("Key that is set")]
    assert table == [
        [one.key_variable, f"{one.name}/{one.model}", f"{one.name}/{one.small_model}"]
        for one in PROVIDERS
        if one.model
    ]


def test_the_modes_are_those_of_the_code() -> None:
    modes = [_CODE.findall(row[0])[0] for row in cells("Mode")]
    assert sorted(modes) == sorted(get_args(PermissionMode))


@pytest.mark.parametrize(
    "words",
    [
        f"`ANTHROPIC_MAX_OUTPUT_TOKENS` | {DEFAULT_MAX_OUTPUT_TOKENS:,}",
        f"`ANTHROPIC_COMPACTION_THRESHOLD` | {DEFAULT_COMPACTION_THRESHOLD:,}",
        f"up to {retries.MAX_RETRIES} times",
        f"more than {MAX_RETRY_AFTER / 60:.0f} minutes",
        f"(±{retries.JITTER:.0%})".replace("%", " %"),
        f"the result of any call | {MAX_RESULT_CHARS:,} characters",
        f"at most {bash.MAX_SECONDS}; {bash.MAX_CHARS:,} characters",
        f"{http_get.MAX_BYTES:,} bytes; {http_get.SECONDS:.0f} seconds",
        f"seconds; {http_get.MAX_REDIRECTS} redirects",
        f"`WebSearch` | {web_search.MAX_RESULTS} results",
        f"calls at the same time | {MAX_CONCURRENT}",
        f"the first {MAX_OWN_TEXT:,} characters",
        f"the first {MAX_DESCRIPTION_CHARS} characters of the description of each skill",
        f"in up to {MAX_DESCRIPTION_TOKENS:,} tokens",
        f"choose a type; the first {agent_types.MAX_DESCRIPTION_CHARS} characters",
        f"older than the last {RECENT_RESULTS} and longer than {MAX_OLD_RESULT:,} characters",
        f"the last {RECENT_MESSAGES} messages",
    ],
)
def test_a_number_is_that_of_the_code(words: str) -> None:
    assert words in TEXT


def test_the_session_ends_after_as_many_repetitions_as_the_page_says() -> None:
    assert (WARNED_REPEATS, MAX_REPEATS, WAIT_SECONDS) == (3, 5, 5.0)
    assert MAX_CUT_REPLIES == 3
    assert "four replies in a row were cut" in TEXT
    assert "the same call had the same result five times, and no call had a new result" in TEXT


def test_the_commands_of_a_session_are_listed() -> None:
    described = [(f"`{f'/{row.name} {row.arguments}'.rstrip()}`", row.help) for row in COMMANDS]
    assert [tuple(row) for row in cells("Command")] == described
