"""`python -m tests.benchmarks peers scenarios`: what agents do where agents are known to fail.

Most scenarios are public reports about coding agents. Each is played to each agent; the words of a
cell are what was seen, not a judgment.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.agent.peers import AGENTS, Agent, Lab
from tests.benchmarks.agent.scenario_kinds import (
    Rules,
    call_in_milliseconds,
    count_requests,
    find_leftovers,
    interrupt_and_continue,
    judge_edit,
    look_for_skills,
    measure_prefix,
    overflow,
    print_much,
    read_much,
    repeat_call,
    return_reasoning,
    run_with_rules,
    show_secrets,
    spend_without_price,
    start_hanging_server,
    time_command,
)
from tests.benchmarks.agent.scripted_steps import NotOfferedError, call_with, cut_stream
from tests.model_server.faults import Reply

_CRLF = (b"a = 1\r\nb = 2\r\n", "a = 1\nb = 2", "a = 1\nb = 3", b"a = 1\r\nb = 3\r\n")
_NBSP = "price\u00a0= 1\nname = \u201cx\u201d\n".encode()
DENY_RM = Rules(("--deny", "Bash(rm *)"), {"*": "allow", "rm *": "deny"})
DENY_RM_RF = Rules(("--deny", "Bash(rm -rf *)"), {"*": "allow", "rm -rf *": "deny"})
ALLOW_GIT = Rules(
    ("--permissions", "ask", "--allow", "Bash(git *)"), {"*": "deny", "git *": "allow"}
)
SCENARIOS: dict[str, Callable[[Lab, Agent], str]] = {
    "git opens an editor": time_command("git commit -q --allow-empty; echo ended $?", 150),
    "git rebase -i": time_command(
        "git commit -q --allow-empty -m a; git commit -q --allow-empty -m b; "
        "git rebase -i HEAD~1; echo ended $?", 150),
    "git log with a pager": time_command(
        "for n in $(seq 99); do git commit -q --allow-empty -m $n; done; git log; echo ended $?"),
    "reads stdin": time_command("cat; read x; echo ended $?", 40),
    "edit, LF on CRLF": judge_edit(*_CRLF),
    "edit, mixed line ends": judge_edit(
        b"a = 1\r\nb = 2\nc = 3\r\n", "b = 2", "b = 3", b"a = 1\r\nb = 3\nc = 3\r\n"),
    "edit, latin-1": judge_edit(
        b"a = 1\n# caf\xe9\n", "a = 1", "a = 2", b"a = 2\n# caf\xe9\n"),
    "edit, BOM": judge_edit(
        b"\xef\xbb\xbfa = 1\n", "a = 1", "a = 2", b"\xef\xbb\xbfa = 2\n"),
    "edit, UTF-16": judge_edit(
        "a = 1\n".encode("utf-16"), "a = 1", "a = 2", "a = 2\n".encode("utf-16")),
    "edit, nbsp": judge_edit(
        _NBSP, "price = 1", "price = 2", _NBSP.replace(b"1", b"2")),
    "edit, curly quotes": judge_edit(
        "say(\u201ca\u201d)\nsay(\u201cb\u201d)\n".encode(), 'say("a")', 'say("c")',
        "say(\u201cc\u201d)\nsay(\u201cb\u201d)\n".encode()),
    "edit, tabs": judge_edit(b"if x:\n\ta = 1\n", "    a = 1", "    a = 2", b"if x:\n\ta = 2\n"),
    "edit, copied line number": judge_edit(b"a = 1\nb = 2\n", "1\ta = 1", "1\ta = 2", b"?"),
    "prompt too long": overflow,
    "eight files of 150 KB": read_much,
    "same start of requests": measure_prefix,
    "reasoning": return_reasoning,
    "Ctrl-C and continue": interrupt_and_continue,
    "max_tokens in a call": count_requests(
        call_with("bash", '{"command": "echo he', "max_tokens"), Reply("", "echo after")),
    "max_tokens in a text": count_requests(
        Reply("I will", stop_reason="max_tokens"), Reply("", "echo after")),
    "empty reply": count_requests(Reply(""), Reply("", "echo after")),
    "broken JSON": count_requests(call_with("bash", '{"command": "echo x"')),
    "unknown tool": count_requests(call_with("frobnicate", {"x": 1})),
    "same call 30 times": repeat_call,
    "polls 12 times": count_requests(*[Reply("", "sleep 0.1; date +%N")] * 12),
    "429, retry-after 3": count_requests(
        Reply(status=429, headers={"retry-after": "3"}, message="slow down"), Reply("", "echo 1")),
    "529 five times": count_requests(*[Reply(status=529, message="overloaded")] * 5),
    "stream cut": count_requests(
        Reply("Half of it " * 20, deliver=cut_stream), Reply("", "echo 1")),
    "background child holds the output": time_command("sleep 25 & echo started", 60),
    "background children at the end": find_leftovers,
    "secrets": show_secrets,
    "timeout in ms": call_in_milliseconds,
    "300 MB of output": print_much,
    "skills": look_for_skills,
    "deny rm *, cd x && rm": run_with_rules("cd sub && rm d/x", DENY_RM),
    "deny rm *, setsid rm": run_with_rules("setsid -w rm sub/d/x", DENY_RM),
    "deny rm *, brace": run_with_rules("{rm,sub/d/x}", DENY_RM),
    "deny rm -rf *, rm -fr": run_with_rules("rm -fr sub/d", DENY_RM_RF),
    "deny rm -rf *, rm -r -f": run_with_rules("rm -r -f sub/d", DENY_RM_RF),
    "allow git *, chain": run_with_rules("cd sub && git status | git diff --stat", ALLOW_GIT),
    "MCP server that hangs": start_hanging_server,
    "budget without a price": spend_without_price,
}  # fmt: skip


def main(words: Sequence[str], say_line: Callable[[str], None]) -> None:
    """Play all scenarios, or those whose names contain a word, to all agents; say the table."""
    agents = [agent for agent in AGENTS[1:] if agent.is_installed()]
    say_line("| scenario | " + " | ".join(agent.kind for agent in agents) + " |")
    say_line("| --- |" + " --- |" * len(agents))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        lab = Lab(Path(name).resolve())
        for title, play in SCENARIOS.items():
            if not words or any(word in title for word in words):
                cells = [_play(play, lab, agent) for agent in agents]
                say_line(f"| {title} | " + " | ".join(cells) + " |")


def _play(play: Callable[[Lab, Agent], str], lab: Lab, agent: Agent) -> str:
    try:
        return play(lab, agent)
    except NotOfferedError as reason:
        return f"({reason})"
