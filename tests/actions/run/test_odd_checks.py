"""Checks that misbehave: they hang, flood, change files, are missing, or change their mind."""

from __future__ import annotations

import os

import pytest

from cub.actions.run.run_context import RunRefusedError
from tests.actions.run.shop import Shop
from tests.actions.run.sound import require_told, seen, size
from tests.conftest import git

_MAKE = "cat > /dev/null; echo made > made.txt"


@pytest.fixture
def stocked(bakery: Shop) -> Shop:
    bakery.task()
    bakery.client(_MAKE)
    bakery.write("mine.txt", "mine\n")
    return bakery


def test_a_check_that_hangs_after_the_work_fails_it(stocked: Shop) -> None:
    before = seen(stocked)
    check = "test ! -e made.txt || sleep 3600"
    done = stocked.run(checks=check, timeout="2s", once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["checks_failed"]
    assert "still running after 2 s" in end["fail"]["reason"]
    assert (end["checks"][0]["exit"], end["checks"][0]["cause"]) == (None, "wall")
    assert seen(stocked) == before


def test_what_a_check_leaves_running_is_ended(stocked: Shop) -> None:
    folder = stocked.open_folder()
    check = "mkfifo $OUT/end; exec 9<> $OUT/end; sleep 3600 &"
    done = stocked.run(checks=check, once=True)
    assert done.outcomes == ["ok"]
    with pytest.raises(OSError, match="No such device"):  # none has it open
        os.open(folder / "end", os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.thorough
def test_of_a_check_that_floods_little_is_kept(stocked: Shop) -> None:
    check = (
        f"yes {'flood' * 40} | head -c 50000000; echo; echo 'a.py:1:1: F821 x'; test ! -e made.txt"
    )
    done = stocked.run(checks=check, once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["checks_failed"]
    assert end["fail"]["reason"] == "a.py:1:1: F821 x"
    assert size(stocked) < 5_000_000
    assert (stocked.cub / "ledger.jsonl").stat().st_size < 50_000
    assert len(stocked.read_prompt(done)) < 50_000


def test_a_check_that_prints_no_text_at_all(stocked: Shop) -> None:
    check = "head -c 3000 /dev/urandom; printf '\\377\\000'; test ! -e made.txt"
    done = stocked.run(checks=check, once=True)
    assert done.outcomes == ["checks_failed"]
    require_told(stocked, done)


def test_what_a_check_changes_is_committed_as_the_last_one_saw_it(stocked: Shop) -> None:
    stocked.write("count.txt", "0\n")
    stocked.commit()
    count = "echo $(($(cat count.txt) + 1)) > count.txt"
    check = f"test ! -e made.txt || {count}; echo x >> report.xml"
    done = stocked.run(checks=check, once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["ok"]
    assert {"count.txt", "made.txt"} <= set(end["git"]["files"])
    assert git(stocked.root, "show", "HEAD:count.txt") == "1\n"  # the last check saw that
    assert (stocked.root / "count.txt").read_text() == "1\n"
    assert "report.xml" not in git(stocked.root, "ls-files")


def test_what_a_check_makes_out_of_the_work_is_taken_back_with_it(stocked: Shop) -> None:
    before = seen(stocked)
    check = "test ! -e made.txt || { cp made.txt built.txt; echo x > kept.txt; echo bad; exit 1; }"
    done = stocked.run(checks=check, once=True)
    assert done.outcomes == ["checks_failed"]
    assert seen(stocked) == before


def test_what_the_first_check_leaves_is_not_what_the_second_one_trips_over(stocked: Shop) -> None:
    """Files of checks before the attempt are no work of the agent's."""
    done = stocked.run_agent("true", checks="echo x >> report.xml", once=True)
    assert done.outcomes == ["no_changes"]


@pytest.mark.thorough
def test_more_problems_of_a_kind_that_no_parser_knows_are_new_ones(stocked: Shop) -> None:
    check = 'echo "$(ls | wc -l) problems found at $(date)"; exit 1'
    assert stocked.run(checks=(check, "true"), once=True).outcomes == ["checks_failed"]
    check = 'ls | sed "s/^/PROBLEM /"; seq 500 | sed "s/^/fine /"; exit 1'
    assert stocked.run(checks=(check, "true"), once=True).outcomes == ["checks_failed"]
    check = 'echo "3 problems found at $(date +%H:%M:%S)"; exit 1'
    done = stocked.run(checks=(check, "true"), once=True, excuse_known_failures=True)
    assert done.outcomes == ["ok"]


def test_a_check_that_the_work_breaks_fails_it(stocked: Shop) -> None:
    stocked.write("check.sh", "#!/bin/sh\ntrue\n").chmod(0o755)
    stocked.commit()
    done = stocked.run_agent("rm check.sh; echo made > made.txt", checks="./check.sh", once=True)
    assert done.outcomes == ["checks_failed"]
    assert (stocked.root / "check.sh").exists()


@pytest.mark.thorough
def test_a_check_that_the_work_makes_possible_is_fine(stocked: Shop) -> None:
    with pytest.raises(RunRefusedError):
        stocked.run_agent(
            "printf '#!/bin/sh\ntrue\n' > check.sh; chmod +x check.sh",
            checks="./check.sh",
            once=True,
        )
    assert stocked.run(checks=("test -x check.sh", "true"), once=True).outcomes == ["ok"]


@pytest.mark.thorough
def test_a_missing_check_of_the_task_has_to_come(stocked: Shop) -> None:
    (stocked.cub / "tasks.jsonl").unlink()
    stocked.task(checks=["./bake.sh"])
    assert stocked.run(once=True).outcomes == ["checks_failed"]
    done = stocked.run_agent("printf '#!/bin/sh\ntrue\n' > bake.sh; chmod +x bake.sh", once=True)
    assert done.outcomes == ["ok"]


def test_a_check_that_kills_itself_is_a_failure(stocked: Shop) -> None:
    done = stocked.run(checks="test ! -e made.txt || kill -9 $$", once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["checks_failed"]
    assert end["checks"][0]["exit"] == 137


def test_a_check_is_asked_once_for_the_same_files(stocked: Shop) -> None:
    stocked.task("s-2")
    folder = stocked.open_folder()
    done = stocked.run_agent('echo x > "$CUB_TASK"', checks="echo x >> $OUT/asked")
    assert done.outcomes == ["ok", "ok"]
    assert (folder / "asked").read_text().count("x") == 3
    assert len(done.of("check_start")) == 3


def test_all_of_several_checks_have_to_hold(stocked: Shop) -> None:
    checks = ("true", "test ! -e made.txt", "echo last")
    done = stocked.run(checks=checks, once=True)
    (end,) = require_told(stocked, done)
    assert done.outcomes == ["checks_failed"]
    assert [row["cmd"] for row in end["checks"]] == [checks[1], checks[0], checks[2]]


def test_a_check_reads_nothing_and_knows_of_no_terminal(stocked: Shop) -> None:
    check = 'test -z "$(cat)" && ! test -t 0 && test -z "$CUB_TASK$CUB_ATTEMPT"'
    assert stocked.run(checks=check, once=True).outcomes == ["ok"]
    ends = stocked.ledger("attempt_end")
    assert ends[0]["checks"][0]["exit"] == 0


def test_what_a_formatter_makes_of_the_work_is_checked_and_committed(stocked: Shop) -> None:
    """R05: HEAD had never passed the check, and the checkout was left dirty."""
    stocked.write("check.sh", "sed -i s/666/1/ made.txt\ngrep -q 1 made.txt\n")
    stocked.write("made.txt", "1\n")
    stocked.commit()
    done = stocked.run_agent("echo 666 666 > made.txt", checks="sh check.sh", once=True)
    assert (done.outcomes, stocked.status()) == (["ok"], "closed")
    assert git(stocked.root, "show", "HEAD:made.txt") == "1 666\n"
    assert stocked.dirt() == ""
    assert "the checks changed made.txt, and ran again on that" in done.notices
    assert len(done.of("check_end")) == 3


def test_a_formatter_that_undoes_the_work_leaves_nothing_to_close(stocked: Shop) -> None:
    stocked.write("made.txt", "1\n")
    stocked.commit()
    done = stocked.run_agent("echo 666 > made.txt", checks="sed -i s/666/1/ made.txt", once=True)
    assert done.outcomes == ["no_changes"]


def test_what_checks_change_before_the_attempt_is_no_part_of_it(stocked: Shop) -> None:
    stocked.write("old.txt", "666\n")
    stocked.commit()
    before = seen(stocked).files
    check = "sed -i s/666/1/ old.txt; echo more >> mine.txt; touch new.txt"
    done = stocked.run_agent("grep -q 666 old.txt && echo made > made.txt", checks=check, once=True)
    (end,) = require_told(stocked, done)
    assert (done.outcomes, end["git"]["files"]) == (["ok"], ["made.txt", "mine.txt", "old.txt"])
    assert seen(stocked).files == before | {
        "made.txt": ("file", b"made\n"),
        "mine.txt": ("file", b"mine\nmore\n"),
        "old.txt": ("file", b"1\n"),
    }


def test_what_a_check_commits_is_no_part_of_the_work(stocked: Shop) -> None:
    stocked.write(".gitignore", "secret.env\n")
    stocked.write("check.sh", "true\n")
    stocked.commit()
    commits = "touch secret.env new.txt; git add -A -f .; git commit -qm wip\n"
    done = stocked.run_agent(
        f"echo made > made.txt; printf {commits!r} > check.sh",
        checks="sh check.sh || true",
        once=True,
    )
    (end,) = require_told(stocked, done)
    assert (done.outcomes, end["git"]["files"]) == (["ok"], ["check.sh", "made.txt"])
    assert "wip" not in stocked.log()


@pytest.mark.parametrize("prints", ["$PWD/a.py:1:1: F821 old", "Error: cannot bake $PWD/a.py"])
def test_a_known_failure_is_the_same_in_the_place_of_another_run(
    stocked: Shop, prints: str
) -> None:
    """Aside of the checkout, the path of a place names the run."""
    stocked.configure(run={"place": "aside"})
    checks = (f'echo "{prints}"; exit 1', "true")
    stocked.run(checks=checks, once=True, harness="mine")
    done = stocked.run_agent(
        "echo more > more.txt", checks=checks, once=True, excuse_known_failures=True
    )
    assert done.outcomes == ["ok"]
