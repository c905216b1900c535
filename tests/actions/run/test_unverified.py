"""Checks that cannot decide: they close no task, and where nothing can decide no client starts."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cub.actions.run.run_context import RunRefusedError
from cub.errors import CubError
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told, seen
from tests.conftest import git
from tests.examples import keep_few

_WORK = "cat > /dev/null; echo x >> ~/.cache/started; echo made >> made.txt"
_PYTHON = Path(sys.executable).as_posix()
_PYTEST = f"{_PYTHON} -m pytest -q -p no:cacheprovider"
_RED = "def test_old():\n    assert False\n"
_GREEN = "def test_fine():\n    assert True\n"


def _prepare(bakery: Shop) -> None:
    bakery.write(".gitignore", "__pycache__/\n")
    bakery.commit()
    bakery.task()
    bakery.client(_WORK)


@pytest.fixture
def stocked(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


def started(shop: Shop) -> int:
    """How often the client was started."""
    file = Path(shop.environ["HOME"]) / ".cache/started"
    return file.read_text().count("x") if file.exists() else 0


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ("no-such-check --all", "can't be run"),
        ("./not-there.sh", "can't be run"),
        (f"echo > left.txt; {_PYTHON} -S -m pytest -q", "No module named pytest"),
        ("echo 'npm error Missing script: \"test\"'; exit 1", "Missing script"),
        (
            "echo 'Unknown command: \"tset\"'; echo '  npm help'; exit 1",
            'can\'t be run (Unknown command: "tset")',
        ),
    ],
)
def test_where_no_check_can_run_nothing_starts_and_nothing_is_left(
    stocked: Shop, check: str, says: str
) -> None:
    before, runs = seen(stocked), stocked.cub / "runs"
    tasks = (stocked.cub / "tasks.jsonl").read_bytes()
    with pytest.raises(RunRefusedError, match=re.escape(says)):
        stocked.run(checks=check)
    assert (stocked.cub / "tasks.jsonl").read_bytes() == tasks
    assert (stocked.ledger(), started(stocked)) == ([], 0)
    assert [path.name for path in runs.iterdir()] == [".gitignore"]
    assert seen(stocked) == before
    assert not git(stocked.root, "for-each-ref", "refs/worktree")
    assert stocked.run(checks="true").outcomes == ["ok"]


@pytest.mark.parametrize("branch", ["new/{run}", "old"])
def test_a_refused_run_leaves_no_branch_and_stays_on_none(stocked: Shop, branch: str) -> None:
    git(stocked.root, "branch", "old", "HEAD~1")
    before = seen(stocked)
    with pytest.raises(RunRefusedError):
        stocked.run(checks="no-such-check", branch=branch)
    assert seen(stocked) == before
    assert git(stocked.root, "branch", "--format=%(refname:short)").split() == ["main", "old"]


def test_a_place_that_git_can_not_check_out_leaves_nothing(stocked: Shop) -> None:
    stocked.write(".gitattributes", "kept.txt filter=lost\n")
    stocked.commit()
    git(stocked.root, "config", "filter.lost.required", "true")
    git(stocked.root, "config", "filter.lost.smudge", "false")
    before = seen(stocked)
    with pytest.raises(CubError, match="git read-tree failed"):
        stocked.run(no_checks=True, branch="new")
    assert seen(stocked) == before


@pytest.mark.parametrize(
    "manifest", ["pyproject.toml", "requirements.txt", "requirements/tests.txt", "tox.ini"]
)
def test_a_module_that_a_manifest_names_has_to_be_installed_first(
    stocked: Shop, manifest: str
) -> None:
    """A collection error was found when the agent had done its work."""
    stocked.write(manifest, "# no-such-module-here\n")
    stocked.write("tests/test_old.py", "import no_such_module_here.views\n")
    stocked.commit()
    with pytest.raises(RunRefusedError, match="No module named 'no_such_module_here'"):
        stocked.run(checks=_PYTEST)
    assert started(stocked) == 0


def test_a_manifest_that_is_a_link_is_not_read(stocked: Shop) -> None:
    stocked.write("shared.txt", "no-such-module-here\n")
    (stocked.root / "requirements.txt").symlink_to("shared.txt")
    stocked.write("tests/test_old.py", "import no_such_module_here.views\n")
    stocked.commit()
    assert stocked.run_agent("true", checks=_PYTEST, once=True).outcomes == ["no_changes"]


def test_the_hint_names_what_installs_the_tool(stocked: Shop) -> None:
    scripts = '{"scripts": {"test": "no-such-runner"}, "devDependencies": {"jest": "1"}}'
    stocked.write("package.json", scripts)
    stocked.commit()
    with pytest.raises(RunRefusedError) as refusal:
        stocked.run(checks="no-such-runner && npm test")
    assert refusal.value.hint == "run `npm install` first, or fix the check"


def test_the_hint_for_a_script_that_does_not_exist_is_to_change_the_check(stocked: Shop) -> None:
    stocked.write("package.json", '{"scripts": {"test": "true"}, "devDependencies": {"jest": "1"}}')
    stocked.commit()
    with pytest.raises(RunRefusedError) as refusal:
        stocked.run(checks="echo 'npm error Missing script: \"tset\"' && exit 1")
    assert refusal.value.hint.startswith("change the check: run.checks, `--check CMD`")


@pytest.mark.thorough
def test_a_module_that_is_to_be_written_is_no_obstacle(stocked: Shop) -> None:
    stocked.write("test_bread.py", "from bread import SALT\n\ndef test(): assert SALT == 1\n")
    stocked.commit()
    assert stocked.run_agent("echo SALT = 1 > bread.py", checks=_PYTEST).outcomes == ["ok"]


@pytest.mark.parametrize(
    ("check", "known", "demand"),
    [
        ("echo 'all is bad'; exit 3", "all is bad", "make the check pass"),
        ("echo 'shop.py:7:1: F821 old'; exit 1", "shop.py:7:1", "fix at least one known failure"),
    ],
    ids=["mute", "an item"],
)
def test_a_run_stops_where_no_known_failure_is_fixed(
    stocked: Shop, check: str, known: str, demand: str
) -> None:
    """Ten of ten attempts were accepted that only added a comment."""
    before = seen(stocked)
    done = stocked.run(checks=check)
    (end,) = require_told(stocked, done)
    assert (done.outcomes, started(stocked)) == (["not_mended"], 1)
    assert (end["fail"]["charge"], stocked.status()) == (False, "open")
    assert seen(stocked) == before
    assert end["fail"]["reason"].startswith("1 known failure as before the attempt: ")
    assert known in end["fail"]["reason"]
    assert f"the attempt has to {demand}" in done.notices
    assert (done.end["end"], done.end["ok"]) == ("not_mended", False)
    assert "--excuse-known-failures" in done.end["hint"]
    assert end["git"]["patch"]


def test_excused_failures_are_named_in_the_event_and_in_the_commit(stocked: Shop) -> None:
    stocked.write("wrong", "shop.py:7:1: F821 old\n")
    stocked.commit()
    check = "cat wrong; echo '1 failed, 3 passed in 0.1s'; exit 1"
    done = stocked.run(checks=check, once=True, excuse_known_failures=True)
    (end,) = require_told(stocked, done)
    assert (done.outcomes, end["excused"]) == (["ok"], 1)
    assert "excused, but the attempt may not add a failure" in done.notices
    message = git(stocked.root, "log", "-1", "--format=%b", "--grep", "task(s-1)")
    assert "1 known failure excused." in message


def test_a_configuration_can_excuse_known_failures(stocked: Shop) -> None:
    stocked.configure(run={"known_failures": "excuse"})
    check = "echo 'shop.py:7:1: F821 old'; echo '1 failed, 3 passed in 0.1s'; exit 1"
    assert stocked.run(checks=check, once=True).outcomes == ["ok"]


def test_a_check_of_the_task_that_can_not_pass_parks_it_with_the_second_attempt(
    stocked: Shop,
) -> None:
    done = stocked.run(check="echo no oven; exit 4")
    assert done.outcomes == ["checks_failed", "checks_failed"]
    assert stocked.status() == "parked"
    (state,) = [event for event in done.of("task_state") if event["status"] == "parked"]
    assert "the check itself may be at fault (exit code 4: no oven)" in state["why"]


def test_what_fails_before_and_passes_after_has_decided(stocked: Shop) -> None:
    """R21: an attempt was refused where its check failed and named no item."""
    assert stocked.run(checks="test -e made.txt", once=True).outcomes == ["ok"]


@pytest.mark.parametrize(("check", "outcome"), [("made.txt", "ok"), ("never.txt", "checks_failed")])
def test_a_check_of_the_command_line_has_to_get_better(
    stocked: Shop, check: str, outcome: str
) -> None:
    assert stocked.run(check=f"test -e {check}", once=True).outcomes == [outcome]


def test_a_check_that_hangs_before_may_pass_after(stocked: Shop) -> None:
    done = stocked.run(checks="test -e made.txt || sleep 3600", timeout="2s", once=True)
    assert done.outcomes == ["ok"]
    assert "`test -e made.txt || sleep 3600` does not end; the attempt has to" in done.notices


def test_a_pass_with_no_test_is_no_evidence(stocked: Shop) -> None:
    done = stocked.run(checks="echo; echo 'Ran 0 tests in 0.000s'; echo; echo OK")
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["unverified"]
    assert "finds no test, before and after" in end["fail"]["reason"]
    assert (end["fail"]["charge"], done.end["end"]) == (False, "unverified")


def test_without_any_check_a_run_has_to_be_asked_for(stocked: Shop) -> None:
    with pytest.raises(CubError, match="no check decides whether s-1 is done"):
        stocked.run(no_checks=False)
    assert (stocked.ledger(), started(stocked)) == ([], 0)
    done = stocked.run(no_checks=True, once=True)
    assert done.of("run_start")[0]["no_checks"] is True
    assert "--no-checks" in done.of("attempt_end")[0]["unverified"]
    message = git(stocked.root, "log", "-1", "--format=%b", "--grep", "task(s-1)")
    assert "No check has decided whether it is done: the run was started with --no-ch" in message


def test_the_checks_that_manifests_name_decide_where_none_is_configured(stocked: Shop) -> None:
    stocked.write("Makefile", "test:\n\ttest ! -e made.txt\n")
    stocked.commit()
    with pytest.raises(CubError) as refusal:
        stocked.run(no_checks=False, trust=False)
    assert "a check: make test, from Makefile" in refusal.value.details
    assert stocked.call("trust").code == 0
    done = stocked.run(no_checks=False, trust=False, once=True)
    assert done.outcomes == ["checks_failed"]
    assert "`make test` (from Makefile)" in done.notices
    stocked.write("Makefile", "check:\n\ttrue\n")
    stocked.commit()
    with pytest.raises(CubError, match="the proposed checks are not trusted"):
        stocked.run(no_checks=False, trust=False)


def test_a_check_of_a_task_that_can_not_be_run_is_named_with_the_task(stocked: Shop) -> None:
    (stocked.cub / "tasks.jsonl").unlink()
    stocked.task(checks=["no-such-check"])
    with pytest.raises(RunRefusedError, match="`no-such-check` can't be run") as refusal:
        stocked.run(checks="true")
    assert (refusal.value.where, started(stocked)) == ("s-1", 0)
    assert "`cub task edit ID --check CMD`" in refusal.value.hint


def test_a_proposed_linter_that_fails_already_is_not_used(stocked: Shop) -> None:
    lint = "lint:\n\t@echo 'shop.py:7:1: F821 old'; exit 1\n"
    stocked.write("Makefile", f"test:\n\t@test -e shop.py || true\n{lint}")
    stocked.commit()
    done = stocked.run(no_checks=False, once=True)
    assert done.outcomes == ["ok"]
    assert "`make lint` is not used: it fails before the attempt" in done.notices
    assert [check["cmd"] for check in done.of("attempt_end")[0]["checks"]] == ["make test"]


def test_a_run_is_refused_with_what_the_tests_lack(stocked: Shop) -> None:
    stocked.write("Makefile", "test:\n\tno-such-program\n")
    stocked.commit()
    with pytest.raises(CubError, match="Makefile, but no-such-program is not installed") as refusal:
        stocked.run(no_checks=False)
    assert refusal.value.hint.startswith("install no-such-program, or set run.checks, or use")
    assert started(stocked) == 0


@pytest.mark.thorough
def test_a_check_that_cannot_decide_is_told_beside_one_that_can(stocked: Shop) -> None:
    done = stocked.run(checks=("no-such-check", "true"), once=True)
    assert done.outcomes == ["ok"]
    assert "`no-such-check` can't be run" in done.notices


@pytest.mark.thorough
def test_a_check_of_the_task_decides_where_those_of_the_project_cannot(stocked: Shop) -> None:
    (stocked.cub / "tasks.jsonl").unlink()
    stocked.task(checks=["test -e made.txt"])
    assert stocked.run(checks="false", once=True).outcomes == ["ok"]
    stocked.task("s-2", checks=["test -e never.txt"])
    done = stocked.run(checks="false", once=True, task="s-2")
    assert done.outcomes == ["checks_failed"]


def test_the_next_prompt_says_that_nothing_judged_the_work(stocked: Shop) -> None:
    stocked.write("wrong", "shop.py:7:1: F821 old\n")
    stocked.commit()
    stocked.configure(run={"known_failures": "excuse"})
    stocked.run(checks="cat wrong; exit 1", once=True)
    done = stocked.run(checks="cat wrong; exit 1", once=True)
    prompt = stocked.read_prompt(done)
    assert "Failure reason: unverified: every check fails as it did before" in prompt
    assert "a check has to pass, or to fail less than before" in prompt
    assert "failing: `shop.py:7:1`" in prompt


def test_an_item_that_goes_away_judges(stocked: Shop) -> None:
    stocked.write("wrong", "shop.py:7:1: F821 old\nshop.py:9:1: F401 older\n")
    stocked.commit()
    done = stocked.run_agent(
        "sed -i.bak 1d wrong; rm -f wrong.bak", checks="cat wrong; exit 1", once=True
    )
    assert done.outcomes == ["ok"]


@pytest.mark.thorough
def test_tests_that_pass_beside_one_that_is_excused_judge(stocked: Shop) -> None:
    stocked.write("tests/test_old.py", _RED)
    stocked.write("tests/test_fine.py", _GREEN)
    stocked.commit()
    assert stocked.run(checks=_PYTEST, once=True).outcomes == ["not_mended"]
    done = stocked.run(checks=_PYTEST, once=True, excuse_known_failures=True)
    assert done.outcomes == ["ok"]


@pytest.mark.thorough
def test_a_suite_in_which_nothing_passes_judges_nothing(stocked: Shop) -> None:
    stocked.write("tests/test_old.py", _RED)
    stocked.commit()
    done = stocked.run(checks=_PYTEST, once=True, excuse_known_failures=True)
    assert done.outcomes == ["unverified"]
    assert done.of("attempt_end")[0]["fail"]["charge"] is True


@pytest.mark.thorough
def test_tests_that_cannot_be_collected_end_the_run_and_charge_nothing(stocked: Shop) -> None:
    stocked.write("tests/test_old.py", "import no_such_module_here\n")
    stocked.commit()
    done = stocked.run(checks=_PYTEST, excuse_known_failures=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["unverified"]
    assert (end["fail"]["charge"], stocked.status()) == (False, "open")
    assert done.end["end"] == "unverified"
    assert "could not work" in done.end["why"]
    assert started(stocked) == 1


@pytest.mark.thorough
def test_a_project_without_tests_is_judged_by_the_first_one_that_passes(stocked: Shop) -> None:
    done = stocked.run(checks=_PYTEST)
    assert done.outcomes == ["unverified"]
    assert "finds no test" in done.notices
    assert (done.end["end"], stocked.status()) == ("unverified", "open")
    done = stocked.run_agent(
        "mkdir tests; echo 'def test_fine(): pass' > tests/test_new.py", checks=_PYTEST
    )
    assert done.outcomes == ["ok"]


@pytest.mark.thorough
def test_whoever_wants_may_accept_what_nothing_has_judged(stocked: Shop) -> None:
    stocked.configure(run={"accept_unverified": True, "known_failures": "excuse"})
    done = stocked.run(checks="false", once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["ok"]
    assert "false" in end["unverified"]
    assert stocked.status() == "closed"
    assert any("nothing has judged" in text for text in done.notices.splitlines())


def test_a_syntax_error_is_evidence_without_a_check(stocked: Shop) -> None:
    before = seen(stocked)
    done = stocked.run_agent("echo 'def broken(:' > shop.py", no_checks=True, once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["checks_failed"]
    assert end["fail"]["reason"] == "shop.py:1: SyntaxError: invalid syntax"
    assert seen(stocked) == before
    prompt = stocked.read_prompt(stocked.run(no_checks=True, once=True))
    assert "failing: `shop.py:1`: SyntaxError: invalid syntax" in prompt


@pytest.mark.thorough
def test_a_syntax_error_is_evidence_against_checks_that_pass(stocked: Shop) -> None:
    done = stocked.run_agent("printf 'function f( {' > shop.js", checks="true", once=True)
    assert done.outcomes == ["checks_failed"]
    assert done.of("attempt_end")[0]["fail"]["reason"] == "shop.js:1: syntax error"


@pytest.mark.parametrize(
    "path",
    keep_few(["tests/data/bad.py", "fixtures/bad.py", "vendor/bad.py", "notes.txt", "bad.c"], 1),
)
def test_what_may_be_broken_on_purpose_is_no_evidence(stocked: Shop, path: str) -> None:
    done = stocked.run_agent(
        f"mkdir -p $(dirname {path}); echo 'def broken(:' > {path}", checks="true", once=True
    )
    assert done.outcomes == ["ok"]


@pytest.mark.thorough
def test_a_file_that_was_broken_before_is_no_fault_of_the_work(stocked: Shop) -> None:
    stocked.write("shop.py", "def broken(:\n")
    stocked.commit()
    assert stocked.run_agent("echo '# more' >> shop.py", checks="true", once=True).outcomes == [
        "ok"
    ]
