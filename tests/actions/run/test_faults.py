"""What clients do wrong, one by one: the class of it, the task, the ledger, the files, the rest.

Each row is played by a shell as an agent of one's own; and, where a script can say it, by the
scripted agent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import CHECK, Done, Shop
from tests.actions.run.sound import require_told, seen, size
from tests.processes.programs import is_running, make_sleep

_LIMIT = 'API Error: 429 {"type":"rate_limit_error"} - resets in 2 hours'
_LOGIN = "Invalid API key · Please run /login"
_MADE = {"files": {"made.txt": "made\n"}}
_MAKE = "echo made > made.txt"
# Ways to change files that a failing attempt has to take back.
_MESS = {"files": {"made.txt": "made\n", "kept.txt": None, "mine.txt": "theirs\n"}}
_MESSY = "echo made > made.txt; rm kept.txt; echo theirs > mine.txt"


class Row(NamedTuple):
    """What an agent does, as a step and as a shell's line, and what has to come of it.

    A step of None is what no script can say; `changes` are the files then.
    """

    step: Mapping[str, Any] | None
    shell: str
    outcome: str = "ok"
    status: str = "closed"
    says: str = ""
    asked: Mapping[str, Any] = {}
    changes: Mapping[str, Any] = {}

    @property
    def files(self) -> Mapping[str, Any]:
        return self.changes if self.step is None else self.step.get("files", {})


_ROWS = {
    "success": Row(_MADE, _MAKE),
    "failure": Row(
        {"exit": 1, "final": "no oven"}, "echo no oven; exit 1", "harness_exit", "retry",
        "exit code 1: no oven",
    ),
    "failure after work": Row(
        {**_MESS, "exit": 1}, f"{_MESSY}; exit 1", "harness_exit", "retry", "exit code 1",
    ),
    "a lie about success": Row(
        {"final": "All of it is done."}, "echo All of it is done.", "no_changes", "retry",
    ),
    "a lie in the closing lines": Row(
        {"final": "Status: done\nSummary: baked"}, "echo Status: done; echo Summary: baked",
        "no_changes", "retry", "baked",
    ),
    "stuck": Row(
        {**_MESS, "final": "<stuck>there is no oven</stuck>"},
        f"{_MESSY}; echo '<stuck>there is no oven</stuck>'", "stuck", "parked", "there is no oven",
    ),
    "stuck in the closing lines": Row(
        {"final": "Status: stuck\nSummary: no oven"}, "echo Status: stuck; echo Summary: no oven",
        "stuck", "parked", "no oven",
    ),
    "stuck, and exit 1": Row(
        {"final": "<stuck>no oven</stuck>", "exit": 1}, "echo '<stuck>no oven</stuck>'; exit 1",
        "stuck", "parked", "no oven",
    ),
    "a promise with nothing done": Row(
        {"final": "<promise>COMPLETE</promise>"}, "echo '<promise>COMPLETE</promise>'",
        "no_changes", "retry",
    ),
    "a question": Row(
        {"final": "I see two ovens.\nWhich one should I use?"},
        "echo I see two ovens.; echo Which one should I use?",
        "asked_question", "retry", "Which one should I use?",
    ),
    "a question after work": Row(
        {**_MADE, "final": "It is done. Shall I go on?"}, f"{_MAKE}; echo Shall I go on?",
    ),
    "no change": Row({}, "true", "no_changes", "retry"),
    "a limit": Row(
        {"limit": _LIMIT}, f"echo '{_LIMIT}' >&2; exit 1", "rate_limited", "open", "429",
    ),
    "a limit after work": Row(
        {**_MESS, "limit": _LIMIT}, f"{_MESSY}; echo '{_LIMIT}' >&2; exit 1", "rate_limited",
        "open", "429",
    ),
    "a limit, and exit 0": Row(
        {"limit": _LIMIT, "exit": 0}, f"echo '{_LIMIT}'", "rate_limited", "open", "429",
    ),
    "talk of a limit after work": Row(
        {**_MADE, "limit": _LIMIT, "exit": 0}, f"{_MAKE}; echo '{_LIMIT}'",
    ),
    "no login": Row(
        {"limit": _LOGIN}, f"echo '{_LOGIN}' >&2; exit 1", "auth", "open", "Invalid API key",
    ),
    "crash": Row(
        None, f"{_MESSY}; kill -9 $$", "harness_exit", "retry", "signal 9", changes=_MESS["files"],
    ),
    "hang": Row(
        None, f"{_MESSY}; while echo talk; do sleep 0.05; done",
        "timeout_wall", "retry", "stopped after 2 s", {"timeout": "2s"}, _MESS["files"],
    ),
    "silence": Row(
        None, f"{_MESSY}; sleep 3600", "timeout_idle", "retry", "silent",
        {"idle_timeout": "2s"}, _MESS["files"],
    ),
    "deaf to signals": Row(
        None, f"trap '' INT TERM; {_MESSY}; while :; do sleep 3600; done",
        "timeout_wall", "retry", "stopped after", {"timeout": "2s"}, _MESS["files"],
    ),
    "binary": Row(
        None,
        f"{_MAKE}; printf '\\377\\376\\000\\200\\303(\\n\\033[31m\\r\\n'; head -c 300 /dev/urandom",
    ),
    "broken JSON": Row(
        None,
        f"{_MAKE}; printf '{{\"type\": \"text\", \"te\\n{{}}\\n[]\\n{{\"type\": 1}}\\n'; "
        "printf '{\"type\": \"usage\", \"input\": NaN}\\n{\"type\": \"cost\", \"usd\": -1}\\n'",
    ),
    "permission denied": Row(
        {"denied": "rm -rf build"},
        "echo '{\"type\": \"denied\", \"text\": \"rm -rf build\"}'",
        "permission_denied", "retry", "rm -rf build",
    ),
    "permission denied, and exit 1": Row(
        {**_MESS, "denied": "rm -rf build", "exit": 1},
        f"{_MESSY}; echo '{{\"type\": \"denied\", \"text\": \"rm -rf build\"}}'; exit 1",
        "permission_denied", "retry", "rm -rf build",
    ),
    "permission denied on the way": Row(
        {**_MADE, "denied": "rm -rf build"},
        f"{_MAKE}; echo '{{\"type\": \"denied\", \"text\": \"rm -rf build\"}}'",
    ),
    "a failing check": Row(
        {"files": {"wrong": "a.py:1:1: F821 x\n", "kept.txt": None}},
        "rm kept.txt; echo 'a.py:1:1: F821 x' > wrong", "checks_failed", "retry",
        "a.py:1:1: F821 x",
    ),
}  # fmt: skip


def _prepare(bakery: Shop) -> None:
    bakery.task()
    bakery.client("true")
    bakery.script({"s-1": [{}]})
    bakery.add_git_files()
    bakery.commit("stock")
    bakery.write("mine.txt", "mine\n")


@pytest.fixture
def stocked(copy_shop: CopyShop) -> Shop:
    """With all of cub's own files committed, and a file of the person's beside."""
    return copy_shop(_prepare)


def _played(shop: Shop, client: str, row: Row) -> Done:
    if client == "mine":
        shop.client(f"cat > /dev/null; {row.shell}")
    shop.script({"s-1": [dict(row.step or {})]})
    return shop.run(harness=client, once=True, checks=CHECK, **row.asked)


# It takes the seconds that a client has to end before it is killed.
_SLOW = "deaf to signals"
_CLIENTS = ("scripted", "mine")
# Every fault with either agent in turn, and every third one with the other one as well.
_PLAYED = [
    pytest.param(
        name,
        _CLIENTS[(number + other) % 2] if row.step is not None else "mine",
        marks=[pytest.mark.thorough] if other or name == _SLOW else [],
    )
    for number, (name, row) in enumerate(_ROWS.items())
    for other in ((0, 1) if number % 3 == 0 and row.step is not None else (0,))
]


@pytest.mark.parametrize(("name", "client"), _PLAYED)
def test_each_fault_has_its_class_and_costs_nothing_but_the_attempt(
    stocked: Shop, client: str, name: str
) -> None:
    row, before = _ROWS[name], seen(stocked)
    done = _played(stocked, client, row)
    (end,) = require_told(stocked, done)
    outcome = "ok" if end["ok"] else end["fail"]["class"]
    assert (outcome, stocked.status()) == (row.outcome, row.status)
    after = seen(stocked)
    if row.outcome == "ok":
        assert after.log == ["task(s-1): Do s-1", *before.log]
        assert after.files == {**before.files, "made.txt": ("file", b"made\n")}
        assert end["git"]["files"] == ["made.txt"]
        assert end["git"]["base"]
        assert "patch" not in end["git"]
    else:
        assert row.says in end["fail"]["reason"]
        assert after == before
        _require_patch(stocked, row, end)
    assert done.end["ok"] is (row.outcome == "ok")
    assert not stocked.record().get("lease")


def _require_patch(shop: Shop, row: Row, end: Mapping[str, Any]) -> None:
    """All that was changed is kept, and told; nothing is kept of nothing."""
    changed = sorted(row.files)
    assert end["git"]["files"] == changed
    if not changed:
        assert "patch" not in end["git"]
        return
    patch = (shop.root / end["git"]["patch"]).read_text()
    assert [name for name in changed if f"b/{name}\n" in patch] == changed


def test_what_an_agent_leaves_running_is_ended(stocked: Shop) -> None:
    sleep = make_sleep()
    left = f"setsid {sleep} & {sleep} & env -i setsid {sleep} &"
    done = _played(stocked, "mine", Row(None, f"{_MAKE}; {left}"))
    assert done.outcomes == ["ok"]
    assert not is_running(sleep)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["text", "tool", "assistant"])
def test_of_a_flood_little_is_shown(stocked: Shop, kind: str) -> None:
    words = "flood " * (200 if kind == "text" else 1)
    line = json.dumps({"type": kind, "text": words})
    done = stocked.run_agent(f"{_MAKE}; yes '{line}' | head -c 6000000; echo Status: done")
    shown = done.of("client")
    assert len(shown) < 5_100
    assert sum(len(event.get("text", "")) for event in shown) < 5 << 20
    assert done.outcomes == ["ok"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "line", ["flood" * 40, '\'{"type": "text", "text": "%s"}\'' % ("flood " * 160)]
)
def test_of_a_flood_little_is_kept(stocked: Shop, line: str) -> None:
    shell = f"{_MAKE}; yes {line} | head -c 50000000; yes oh | head -c 9000000 >&2"
    done = _played(stocked, "mine", Row(None, shell))
    assert done.outcomes == ["ok"]
    require_told(stocked, done)
    assert size(stocked) < 31_000_000
    assert (stocked.cub / "ledger.jsonl").stat().st_size < 100_000


@pytest.mark.thorough
@pytest.mark.parametrize("client", ["scripted", "mine"])
def test_a_line_without_end_is_cut(stocked: Shop, client: str) -> None:
    shell = f"{_MAKE}; head -c 30000000 /dev/zero | tr '\\0' 'x'"
    done = _played(stocked, client, Row({**_MADE, "say": "x" * 900_000}, shell))
    assert done.outcomes == ["ok"]
    assert (stocked.cub / "ledger.jsonl").stat().st_size < 100_000


@pytest.mark.parametrize("client", ["scripted", "mine"])
def test_a_promise_that_comes_too_early_is_told_and_the_run_goes_on(
    stocked: Shop, client: str
) -> None:
    stocked.task("s-2")
    final = "<promise>COMPLETE</promise>"
    stocked.client(f"cat > /dev/null; echo $CUB_TASK > made-$CUB_TASK; echo '{final}'")
    both = {f"s-{n}": [{"files": {f"made-s-{n}": "x"}, "final": final}] for n in (1, 2)}
    stocked.script(both)
    done = stocked.run(harness=client)
    assert done.outcomes == ["ok", "ok"]
    first, second = require_told(stocked, done)
    assert first["obs"] == ["the agent said that all is complete, and 1 more task is ready"]
    assert "obs" not in second


@pytest.mark.parametrize("client", ["scripted", "mine"])
@pytest.mark.parametrize("way", ["trailer", "command"])
def test_nothing_to_change_closes_a_task_if_the_agent_says_so(
    stocked: Shop, client: str, way: str
) -> None:
    before = seen(stocked)
    step = {"final": "Status: no_change\nSummary: it is there"}
    shell = "echo Status: no change; echo Summary: it is there"
    if way == "command":
        step = {"close": "no_change"}
        shell = '"$PYTHON" -m cub task close $CUB_TASK --reason no_change'
    done = _played(stocked, client, Row(step, shell))
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["ok"]
    assert (stocked.status(), stocked.record()["close_reason"]) == ("closed", "no_change")
    assert end["git"]["files"] == []
    assert seen(stocked) == before


@pytest.mark.parametrize("argv", [["/no/such/{task}"], ["sh", "-c", "no-such-program"]])
def test_a_client_that_is_not_there_is_no_fault_of_the_task(stocked: Shop, argv: list[str]) -> None:
    """As far as only an attempt can tell: see test_programs.py for the others."""
    before = seen(stocked)
    stocked.configure(harnesses={"mine": {"argv": argv}})
    done = stocked.run(once=True)
    (end,) = require_told(stocked, done)
    assert (done.outcomes, stocked.status()) == (["harness_missing"], "open")
    assert end["fail"]["reason"]
    assert seen(stocked) == before


def test_a_script_without_steps_for_a_task_says_so(stocked: Shop) -> None:
    stocked.script({"other": [{}]})
    done = stocked.run(harness="scripted", once=True)
    assert done.outcomes == ["harness_exit"]
    assert "no steps for the task s-1" in done.of("attempt_end")[0]["fail"]["reason"]


def test_a_result_that_reports_a_failure_is_one_in_spite_of_exit_0(stocked: Shop) -> None:
    result = json.dumps({"type": "result", "text": "the model is gone", "failed": True})
    stocked.client(f"cat > /dev/null; {_MAKE}; echo '{result}'", success="result")
    done = stocked.run(once=True)
    assert done.outcomes == ["harness_exit"]
    reason = done.of("attempt_end")[0]["fail"]["reason"]
    assert reason == "the agent reported a failure: the model is gone"


def test_a_client_that_reads_no_prompt_is_fine(stocked: Shop) -> None:
    stocked.configure(harnesses={"mine": {"argv": ["/bin/sh", "-c", f"exec 0<&-; {_MAKE}"]}})
    assert stocked.run(once=True).outcomes == ["ok"]
