"""Kinds of scenarios: each has an agent do something, and returns in words what was seen."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import NamedTuple

import psutil

from cub.model_server.exchange import RecordedRequest, ScriptedCall
from tests.benchmarks.agent.peers import Agent, Lab, Run, make_last_reply
from tests.benchmarks.agent.scripted_steps import (
    NotOfferedError,
    Step,
    add_reasoning,
    call_tool,
    count_same,
    read_result,
    shorten,
    take_steps,
)
from tests.model_server.faults import Reply

_SECRET = "ghp_" + "Zx9Yq2LmB7vT1cZ84f9Xq2LmB7vT1cZ84f9X"
_MAX_CHARACTERS = 400_000
_TOO_LONG = {
    "message": "This model's maximum context length is 128000 tokens. However, your messages "
    "resulted in 140000 tokens. Please reduce the length of the messages.",
    "type": "invalid_request_error",
    "param": "messages",
    "code": "context_length_exceeded",
}


def run_command(
    lab: Lab, agent: Agent, command: str, *, limit: float = 90, **environ: str
) -> tuple[Run, str]:
    """Have an agent run one command; return the run and the command's result."""
    folder = lab.make_folder({})
    run = lab.run(
        agent, folder, take_steps(agent, Reply("", command)), limit=limit, environ=environ
    )
    return run, read_result(run, 1) if len(run.main_requests) > 1 else ""


def time_command(command: str, limit: float = 90) -> Callable[[Lab, Agent], str]:
    def play(lab: Lab, agent: Agent) -> str:
        run, result = run_command(lab, agent, command, limit=limit)
        if len(run.arrivals) < 2:
            return f"no result in {limit:.0f} s"
        spent = run.arrivals[-1] - run.arrivals[-2]
        return f"{spent:.1f} s: {shorten(result)}"

    return play


def edit_file(before: bytes, old: str, new: str) -> Callable[[Lab, Agent], tuple[bytes, str]]:
    """Return what reads a file and edits it: the bytes afterwards, and the result of the edit."""

    def play(lab: Lab, agent: Agent) -> tuple[bytes, str]:
        if agent.kind == "mini":
            raise NotOfferedError("Bash only")
        folder = lab.make_folder({"f.txt": before})
        path = str(folder / "f.txt")
        steps = call_tool("read", path=path), call_tool("edit", path=path, old=old, new=new)
        run = lab.run(agent, folder, take_steps(agent, *steps))
        return (folder / "f.txt").read_bytes(), read_result(run, 2)

    return play


def judge_edit(before: bytes, old: str, new: str, expected: bytes) -> Callable[[Lab, Agent], str]:
    """Say whether an edit leaves the expected bytes."""

    def play(lab: Lab, agent: Agent) -> str:
        after, result = edit_file(before, old, new)(lab, agent)
        if after == before:
            return f"refused: {shorten(result)}"
        return "right" if after == expected else f"WRONG: {after!r}"

    return play


def find_leftovers(lab: Lab, agent: Agent) -> str:
    command = "sleep 47 >/dev/null 2>&1 & nohup setsid sleep 48 >/dev/null 2>&1 & echo started"
    run, _ = run_command(lab, agent, command)
    home = str(lab.root / str(lab.count) / "home")
    left = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("HOME") == home:
                left.append(" ".join(process.cmdline())[:40])
                process.kill()
    return f"left: {left}" if left else f"none left, code {run.code}"


def show_secrets(lab: Lab, agent: Agent) -> str:
    climb = (
        "printenv GH_TOKEN | base64 -w0; echo '#'; p=$PPID; "
        "while [ $p -gt 1 ] && ! tr '\\0' ' ' < /proc/$p/cmdline | grep -q '[o]nce.py'; do "
        "tr '\\0' '\\n' < /proc/$p/environ | grep -a ^GH_TOKEN | cut -d= -f2 | base64 -w0; "
        "p=$(sed 's/.*) . \\([0-9]*\\) .*/\\1/' /proc/$p/stat); done"
    )
    _, result = run_command(lab, agent, climb, GH_TOKEN=_SECRET)
    own, _, above = result.partition("#")
    secret = base64.b64encode(_SECRET.encode()).decode()[:30]
    seen = ["shown" if secret in part else "hidden" for part in (own, above)]
    return f"environment {seen[0]}, /proc {seen[1]}"


def overflow(lab: Lab, agent: Agent) -> str:
    """A service that takes 400,000 characters, and results of 28,000 until that is too much."""
    sizes = list[int]()
    count = 50 if agent.kind == "mini" else 24  # it cuts results at 10,000
    commands = [f"head -c 28000 /dev/zero | tr '\\0' {chr(97 + n % 26)}" for n in range(count)]
    steps = iter(commands)

    def choose(request: RecordedRequest) -> Reply:
        sizes.append(sum(map(len, request.texts)))
        if sizes[-1] > _MAX_CHARACTERS:
            return Reply(status=400, body=json.dumps({"error": _TOO_LONG}))
        if command := next(steps, ""):
            return Reply("", command, input_tokens=sizes[-1] // 4)
        return make_last_reply(agent)

    run = lab.run(agent, lab.make_folder({}), choose, limit=200)
    refused = sum(size > _MAX_CHARACTERS for size in sizes)
    rest = sum(1 for _ in steps)
    last = f"last {sizes[-1]}, {rest} commands not asked for"
    return f"code {run.code}, {len(sizes)} requests, {refused} refused, {last}"


def read_much(lab: Lab, agent: Agent) -> str:
    """Eight files of 150 KB in a reply."""
    folder = lab.make_folder({f"{n}.txt": b"price = 1\n" * 15_000 for n in range(8)})
    paths = [str(folder / f"{n}.txt") for n in range(8)]

    def choose(request: RecordedRequest) -> Reply:
        if agent.kind == "mini":
            calls = [ScriptedCall("bash", {"command": f"cat {path}"}) for path in paths]
        else:
            calls = [call_tool("read", path=path)(request).calls[0] for path in paths]
        return Reply("", calls=calls)

    run = lab.run(agent, folder, take_steps(agent, choose))
    return f"{len(read_result(run, 1)) / 1000:.0f} KB"


def measure_prefix(lab: Lab, agent: Agent) -> str:
    """How much of each request starts the next one as well, over 20 results of 12 KB."""
    replies = [Reply("", f"head -c 12000 /dev/zero | tr '\\0' {chr(97 + n)}") for n in range(20)]
    run = lab.run(agent, lab.make_folder({}), take_steps(agent, *replies), limit=200)
    bodies = [json.dumps(one.body.get("messages"))[:-1] for one in run.main_requests]
    same = sum(count_same(*pair) for pair in pairwise(bodies))
    return f"{same / sum(map(len, bodies[:-1])):.0%} stays"


def return_reasoning(lab: Lab, agent: Agent) -> str:
    reply = Reply("", "echo 1", deliver=add_reasoning)
    run = lab.run(agent, lab.make_folder({}), take_steps(agent, reply))
    return "sent back" if "THOUGHT-1" in json.dumps(dict(run.main_requests[-1].body)) else "dropped"


def count_requests(*steps: Step) -> Callable[[Lab, Agent], str]:
    """Say how an agent goes on after odd replies: its code, requests, and the last result."""

    def play(lab: Lab, agent: Agent) -> str:
        run = lab.run(agent, lab.make_folder({}), take_steps(agent, *steps), limit=120)
        waits = [f"{b - a:.1f}" for a, b in pairwise(run.arrivals)]
        number = len(run.main_requests)
        last = shorten(read_result(run, number - 1)) if number > 1 else ""
        return f"code {run.code}, {number} requests after {' '.join(waits[:6])} s: {last}"

    return play


def repeat_call(lab: Lab, agent: Agent) -> str:
    replies = [Reply("", "echo same")] * 30
    run = lab.run(agent, lab.make_folder({}), take_steps(agent, *replies), limit=200)
    results = [read_result(run, n) for n in range(1, len(run.main_requests))]
    odd = next((n for n, one in enumerate(results) if one != results[0]), None)
    told = (
        f"told after call {odd + 1}: {shorten(results[odd])}" if odd is not None else "never told"
    )
    return f"{len(results)} calls of 30, code {run.code}; {told}"


def look_for_skills(lab: Lab, agent: Agent) -> str:
    skill = b"---\nname: deploy\ndescription: SKILL-WORD deploys.\n---\nDeploy.\n"
    found = []
    for folder in (".agents", ".claude"):
        files = {f"{folder}/skills/deploy/SKILL.md": skill}
        run = lab.run(agent, lab.make_folder(files), take_steps(agent))
        body = json.dumps(dict(run.main_requests[0].body))
        found += [folder] * ("SKILL-WORD" in body)
    return " ".join(found) or "none"


def interrupt_and_continue(lab: Lab, agent: Agent) -> str:
    """Ctrl-C in a command, then the same session again: has each call its result?"""
    more = {"builtin": ["--continue"], "pi": ["--continue"], "opencode": ["--continue"]}
    if agent.kind not in more:
        raise NotOfferedError("no sessions")
    folder = lab.make_folder({})
    steps = take_steps(agent, Reply("", "sleep 30; echo late"))
    first = lab.run(agent, folder, steps, interrupt=True, limit=40)
    again = lab.run(agent, folder, take_steps(agent), words=more[agent.kind], limit=60)
    if not again.main_requests:
        return f"first ended {first.code} in {first.seconds:.0f} s; again: {shorten(again.out)}"
    messages = again.main_requests[0].body["messages"]
    calls = [call["id"] for one in messages for call in one.get("tool_calls") or ()]
    results = [one.get("tool_call_id") for one in messages if one["role"] == "tool"]
    state = "valid" if calls == results else f"INVALID {calls} {results}"
    return f"first ended {first.code} in {first.seconds:.0f} s; {len(calls)} calls, {state}"


class Rules(NamedTuple):
    """Rules for commands: of `cub code`, and of opencode, where the last one that fits counts."""

    cub: Sequence[str]
    opencode: Mapping[str, str]


def run_with_rules(command: str, rules: Rules) -> Callable[[Lab, Agent], str]:
    """Say whether a command ran: it removes or makes the file `seen`."""

    def play(lab: Lab, agent: Agent) -> str:
        if agent.kind not in ("builtin", "opencode"):
            raise NotOfferedError("no rules")
        folder = lab.make_folder({"sub/d/x": b"x"})
        words: list[str] = []
        environ: dict[str, str] = {}
        if agent.kind == "builtin":
            words = [*rules.cub]
        else:
            settings = {"permission": {"bash": rules.opencode}}
            environ["OPENCODE_CONFIG_CONTENT"] = json.dumps(settings)
        steps = take_steps(agent, Reply("", command))
        run = lab.run(agent, folder, steps, words=words, environ=environ, limit=60)
        result = shorten(read_result(run, 1)) if len(run.main_requests) > 1 else shorten(run.out)
        has_file = (folder / "sub/d/x").exists()
        return f"{'kept' if has_file else 'removed'}: {result}"

    return play


def spend_without_price(lab: Lab, agent: Agent) -> str:
    words = {"builtin": ["--max-budget-usd", "0.001", "--model", "openai/unknown"],
             "mini": ["-l", "0.001"]}  # fmt: skip
    if agent.kind not in words:
        raise NotOfferedError("no budget")
    environ = {"MSWEA_COST_TRACKING": "default"}
    steps = [Reply("", f"echo {n}") for n in range(6)]
    run = lab.run(agent, lab.make_folder({}), take_steps(agent, *steps), words=words[agent.kind],
                  environ=environ)  # fmt: skip
    return f"code {run.code}, {len(run.main_requests)} requests: {shorten(run.out[-400:])}"


def start_hanging_server(lab: Lab, agent: Agent) -> str:
    """An MCP server that never answers: when does the first request come?"""
    server = {"command": "sleep", "args": ["1000"]}
    folder = lab.make_folder({"mcp.json": json.dumps({"mcpServers": {"slow": server}}).encode()})
    words, environ = list[str](), dict[str, str]()
    if agent.kind == "builtin":
        words = ["--mcp-config", "mcp.json"]
    elif agent.kind == "opencode":
        settings = {"mcp": {"slow": {"type": "local", "command": ["sleep", "1000"]}}}
        environ["OPENCODE_CONFIG_CONTENT"] = json.dumps(settings)
    else:
        raise NotOfferedError("no MCP")
    run = lab.run(agent, folder, take_steps(agent), words=words, environ=environ, limit=120)
    return f"code {run.code} after {run.seconds:.0f} s, {len(run.main_requests)} requests"


def print_much(lab: Lab, agent: Agent) -> str:
    run, result = run_command(lab, agent, "head -c 300000000 /dev/zero | tr '\\0' x", limit=120)
    return f"{len(result) / 1000:.0f} KB, {run.largest / 1e6:.0f} MB of memory, {run.seconds:.0f} s"


def call_in_milliseconds(lab: Lab, agent: Agent) -> str:
    """`timeout: 10000` with a command of 13 seconds."""
    if agent.kind == "mini":
        raise NotOfferedError("no such argument")

    def choose(request: RecordedRequest) -> Reply:
        name = next(one for one in request.tools if one.lower() == "bash")
        values = {"command": "sleep 13; echo late", "timeout": 10_000, "description": "Wait"}
        return Reply("", calls=[ScriptedCall(name, values)])

    run = lab.run(agent, lab.make_folder({}), take_steps(agent, choose))
    spent = run.arrivals[1] - run.arrivals[0]
    return f"{spent:.0f} s: {shorten(read_result(run, 1))}"
