"""Why an attempt failed, as the ledger and prompts have it: what is wrong, what was said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cub.store.events import Event
from tests.actions.run.shop import CHECK, Done, Shop
from tests.examples import keep_few

_WORDS = "echo 'I looked at it.'; echo; echo 'The oven heats already.'"
_SAID = "; the agent said: The oven heats already."
_DENIED = '{"type": "denied", "text": "rm -rf build"}'
_NODE = """\
/bakery/oven.js:2
function heat(n {
                ^

SyntaxError: Unexpected token '{'
    at wrapSafe (node:internal/modules/cjs/loader:1464:18)

Node.js v20.20.2
"""
_CRASH = _NODE.replace("SyntaxError: Unexpected token '{'", "RangeError: too hot: 400")


def _fail(done: Done) -> Event:
    found: Event = done.of("attempt_end")[-1]["fail"]
    return found


@pytest.mark.parametrize(
    ("client", "asked", "failure", "reason"),
    keep_few([
        (_WORDS, {}, "no_changes", "The oven heats already."),
        (f"{_WORDS}; echo 'Status: done'; echo 'Summary: all is there'", {}, "no_changes",
         "all is there"),
        ("true", {}, "no_changes", ""),
        (f"{_WORDS}; echo '{_DENIED}'", {}, "permission_denied",
         f"rm -rf build{_SAID}"),
        (f"{_WORDS}; echo boom >&2; exit 3", {}, "harness_exit",
         f"exit code 3: boom{_SAID}"),
        (f"{_WORDS}; exit 3", {}, "harness_exit", "exit code 3: The oven heats already."),
        (f"cat >&2 << 'EOF'\n{_CRASH}EOF\nexit 1", {}, "harness_exit",
         "exit code 1: RangeError: too hot: 400"),
        (f"{_WORDS}; echo 'Status: stuck'", {}, "stuck", "The oven heats already."),
        (f"{_WORDS}; echo '<stuck></stuck>'", {}, "stuck", "The oven heats already."),
        ("echo '<stuck></stuck>'", {}, "stuck", "no reason given"),
        (f"{_WORDS}; exec sleep 60", {"idle_timeout": "2s"}, "timeout_idle",
         f"it was silent, and was stopped after N s in all{_SAID}"),
        (f"echo x > wrong; {_WORDS}", {"checks": CHECK}, "checks_failed",
         f"{CHECK}: exit code 1: x{_SAID}"),
    ], 4))  # fmt: skip
def test_what_the_agent_said_is_in_the_reason_of_every_class(
    bakery: Shop, client: str, asked: dict[str, Any], failure: str, reason: str
) -> None:
    done = bakery.run_agent(client, once=True, **asked)
    assert _fail(done)["class"] == failure
    assert re.sub(r"\d+ s\b", "N s", _fail(done)["reason"]) == reason
    (kept,) = bakery.ledger("attempt_end")
    assert kept["fail"]["reason"] == _fail(done)["reason"]


@pytest.mark.thorough
def test_what_an_agent_says_makes_no_other_failure_of_it(bakery: Shop) -> None:
    bakery.configure(run={"max_attempts": 9})
    for client in ('echo "try $(date +%N)"', "echo x > wrong; date +%s%N"):
        bakery.client(f"cat > /dev/null; {client}")
        bakery.task(f"s-{len(client)}")
        done = bakery.run(checks=CHECK)
        assert len(done.outcomes) == 3
        assert done.of("task_state")[-1]["status"] == "parked"
        assert "in the same way" in done.of("task_state")[-1]["why"]


def test_much_that_is_said_is_cut_and_secrets_of_it_are_masked(bakery: Shop) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    bakery.run_agent(f"echo '{secret} is wrong. {'word ' * 200}'; exit 1", once=True)
    (kept,) = bakery.ledger("attempt_end")
    reason = kept["fail"]["reason"]
    assert reason.startswith("exit code 1: [masked] is wrong. word word")
    assert len(reason) <= 300
    assert "\n" not in reason


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        (_NODE, "/bakery/oven.js:2: SyntaxError: Unexpected token '{'"),
        (_CRASH, f"{CHECK}: exit code 1: RangeError: too hot: 400 (/bakery/oven.js:2)"),
        ("cup: error: no flour\nsee cup.log\n", f"{CHECK}: exit code 1: cup: error: no flour"),
    ],
    ids=["syntax", "crash", "error"],
)  # fmt: skip
def test_what_is_wrong_is_told_and_not_what_was_printed_last(
    bakery: Shop, printed: str, reason: str
) -> None:
    bakery.write("bad.txt", printed)
    bakery.configure(run={"checks": [CHECK]})
    bakery.commit()
    done = bakery.run_agent("cp bad.txt wrong; echo All of it works now.", once=True)
    said = "; the agent said: All of it works now."
    assert _fail(done)["reason"].endswith(reason + said)
    prompt = bakery.read_prompt(bakery.run_agent("true", once=True))
    assert reason.rpartition(": ")[2] in prompt[: prompt.index("Key observations")]
    assert "All of it works now." in prompt
    assert ("Node.js v20.20.2" in prompt) is (printed == _CRASH)  # the end of a log that is no item
