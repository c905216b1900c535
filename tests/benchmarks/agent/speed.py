"""`python -m tests.benchmarks agent`: the built-in agent, beside what it is held to.

A start is that of a process, from its command line to its first request at a server on the loopback
address, in turn with a process that imports the SDK alone. Large results are those of whole
processes, whose model is scripted.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cub.agent.conversation import Message, TextBlock, ToolCall, ToolResult, make_user_message
from cub.agent.events import Compaction
from cub.agent.loop import SessionLimits
from cub.agent.tools.tool import ToolContext, ToolOutput
from cub.agent_profiles.profiles import redirect_agent
from cub.model_server.exchange import FINAL_REPLY, RecordedRequest, Reply
from cub.model_server.server import ModelServer
from tests.agent.doubles import (
    FakeModel,
    WordArguments,
    call,
    make_session,
    make_tool,
    make_toolbox,
    say,
)
from tests.benchmarks.map.processes import Place, cost, memory
from tests.conftest import environment, git

RUNS = 5
_TOOLS, _TOOL_SECONDS, _TOOLS_BAR = 8, 0.3, 0.36
_START_BAR = 1.5
_SDKS = {"anthropic": "claude-sonnet-4-5", "openai": "openai/gpt-4o"}
_SESSIONS = (2_500, 5_000, 10_000)
_LARGE = 50_000_000
_CALLS: dict[str, dict[str, Any]] = {
    "nothing": {"Bash": {"command": "true"}},
    "Bash": {"Bash": {"command": f"head -c {_LARGE} /dev/zero | tr '\\0' x"}},
    "Bash, in lines": {"Bash": {"command": "cat large.txt"}},
    "Read": {"Read": {"file_path": "large.txt"}},
    "Grep": {"Grep": {"pattern": "price", "output_mode": "content"}},
    "Glob": {"Glob": {"pattern": "**/*.txt"}},
}


def main(say_line: Callable[[str], None]) -> None:
    """Measure, and say the tables."""
    say_line(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores, median of {RUNS} runs\n")
    say_line("| what | wall s | bar |")
    say_line("| --- | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        seconds = statistics.median(_time_tools(folder) for _ in range(RUNS))
        say_line(f"| a turn with {_TOOLS} tools of 300 ms | {seconds:.3f} | {_TOOLS_BAR} |")
        for sdk, model in _SDKS.items():
            start, alone, ratio = _time_start(sdk, model, folder / sdk)
            say_line(f"| `import {sdk}` | {alone:.3f} | |")
            bar = f"{_START_BAR} times that; it is {ratio:.2f} times"
            say_line(f"| from the start to the first request, {sdk} | {start:.3f} | {bar} |")
        for count in _SESSIONS:
            seconds = statistics.median(_time_compaction(folder, count) for _ in range(RUNS))
            say_line(f"| compaction of {count:,} messages | {seconds:.3f} | linear |")
        say_line("\n| `cub code` with a result of 50 MB | wall s | CPU s | memory, MB |")
        say_line("| --- | ---: | ---: | ---: |")
        for line in _measure_large_results(folder / "large"):
            say_line(line)


def _time_tools(folder: Path) -> float:
    def wait(_: WordArguments, __: ToolContext) -> ToolOutput:
        time.sleep(_TOOL_SECONDS)
        return ToolOutput("")

    model = FakeModel(call(*[("Wait", str(n)) for n in range(_TOOLS)]), say("Done."))
    session = make_session(make_toolbox(folder, [make_tool("Wait", wait)]), model)
    start = time.perf_counter()
    list(session.work_on("Wait."))
    return time.perf_counter() - start


def _time_start(sdk: str, model: str, folder: Path) -> tuple[float, float, float]:
    """Return the medians of a start and of an import, and of their ratios pair by pair."""
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "AGENTS.md").write_text("# Rules\n", encoding="utf-8")
    requested = list[float]()

    def answer(_: RecordedRequest) -> Reply:
        requested.append(time.perf_counter())
        return FINAL_REPLY

    words = [sys.executable, "-m", "cub", "code", "-p", "Do it.", "--model", model]
    pairs = []
    with ModelServer(answer) as server:
        environ = {**environment(folder), **redirect_agent("builtin", server.url, folder).environ}
        for _ in range(RUNS + 1):
            start = time.perf_counter()
            _run([sys.executable, "-c", f"import {sdk}"], folder, environ)
            alone = time.perf_counter() - start
            start = time.perf_counter()
            _run(words, folder, environ)
            pairs.append((requested[-1] - start, alone))
    starts, imports = zip(*pairs[1:], strict=True)
    ratios = [start / alone for start, alone in pairs[1:]]
    return statistics.median(starts), statistics.median(imports), statistics.median(ratios)


def _run(words: list[str], folder: Path, environ: dict[str, str]) -> None:
    subprocess.run(words, cwd=folder, env=environ, capture_output=True, check=True)


def _time_compaction(folder: Path, count: int) -> float:
    """Return the seconds of a session's first turn, in which its old messages are summarized."""
    session = make_session(
        make_toolbox(folder, []),
        FakeModel(say("Done.")),
        FakeModel(say("A summary.")),
        SessionLimits(1_000, 10_000),
    )
    for number in range(count // 2):
        one = ToolCall(str(number), "Read", {"file_path": f"shop/{number}.py"})
        result = ToolResult(str(number), (TextBlock("price = 1\n" * (number % 2_000)),))
        session.messages += [Message("assistant", (one,)), Message("user", (result,))]
    session.messages.insert(0, make_user_message("Read all."))
    start = time.perf_counter()
    events = list(session.work_on("Go on."))
    assert any(isinstance(event, Compaction) and event.kind == "auto" for event in events)
    return time.perf_counter() - start


def _measure_large_results(folder: Path) -> Iterator[str]:
    folder.mkdir()
    git(folder, "init", "-q")
    line = "price = 1  # in cents, and never in euros\n"
    (folder / "large.txt").write_text(line * (_LARGE // len(line)), encoding="utf-8")
    place = Place(folder, "", folder)
    words = [sys.executable, "-m", "cub", "code", "-p", "x", "--permissions", "bypass"]
    words += ["--model", "scripted/replies.json", "--output-format", "stream-json"]
    for name, one in _CALLS.items():
        replies = [{"calls": [one]}, {"text": "Done."}]
        script = json.dumps({"conversations": [{"replies": replies}]})
        (folder / "replies.json").write_text(script, encoding="utf-8")
        spent, largest = cost(words, place), memory(words, place).largest
        yield f"| {name} | {spent.wall:.2f} | {spent.cpu:.2f} | {largest / 1e6:.0f} |"
