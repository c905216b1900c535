"""What defines a check runs as it was before the attempt; the commit has what the attempt left."""

from __future__ import annotations

import pytest

from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.conftest import git
from tests.examples import keep_few

MAKE = "make -s test"
TESTS = """import unittest
from ovens import heat


class Ovens(unittest.TestCase):
    def test_heat(self):
        self.assertEqual(heat(1), 2)

    def test_cool(self):
        self.assertEqual(heat(0), 0)
"""
FIX = "echo 'def heat(n): return n + n' > ovens.py"
BREAK = "echo 'def heat(n): return 7' > ovens.py"


def _prepare(made: Shop) -> None:
    made.write("ovens.py", "def heat(n): return 2 * n\n")
    made.write("test_ovens.py", TESTS)
    made.write("Makefile", "test:\n\tsh ci/check.sh\n")
    made.write("ci/check.sh", '"$PYTHON" -B -m unittest -q test_ovens\n')
    made.write(".gitignore", "__pycache__/\n")
    made.commit("files")


@pytest.fixture
def shop(copy_shop: CopyShop) -> Shop:
    return copy_shop(_prepare)


def _attempt(shop: Shop, agent: str, title: str = "Heat twice", *, allows: bool = False) -> Done:
    shop.task(title=title)
    return shop.run_agent(agent, checks=MAKE, once=True, allow_check_changes=allows)


@pytest.mark.parametrize(
    "weakening",
    keep_few([
        "printf 'test:\\n\\ttrue\\n' > Makefile",
        "printf 'test:\\n\\ttrue\\n' > GNUmakefile",
        # All tests run, and none of them decides.
        "cp ci/check.sh ci/real.sh; echo 'sh ci/real.sh || true' > ci/check.sh",
    ], 1),
)  # fmt: skip
def test_checks_that_pass_only_as_the_attempt_defines_them_fail_it(
    shop: Shop, weakening: str
) -> None:
    done = _attempt(shop, f"{BREAK}; {weakening}")
    assert done.outcomes == ["check_changed"]
    name = weakening.rpartition(" ")[2]
    reason = f"`{MAKE}` passes only with the attempt's change of {name}: test_ovens.Ovens.test_cool"
    end = done.of("attempt_end")[0]
    assert end["fail"]["reason"].startswith(reason)
    assert f"{name} " in (shop.root / end["git"]["patch"]).read_text()
    assert shop.dirt() == ""
    again = f"the attempt changed {name}: `{MAKE}` runs once more with the earlier version"
    assert again in done.notices


def _list_committed(shop: Shop) -> set[str]:
    return {*git(shop.root, "show", "--name-only", "--format=", "HEAD").split()}


def test_a_change_that_the_checks_do_not_need_is_committed_and_told(shop: Shop) -> None:
    more = "printf 'lint:\\n\\ttrue\\n' >> Makefile; rm ci/check.sh"
    more += "; printf 'all:\\n\\ntest:\\n\\t$$PYTHON -B -m unittest -q test_ovens\\n' > Makefile"
    done = _attempt(shop, f"{FIX}; {more}")
    assert done.outcomes == ["ok"]
    end = done.of("attempt_end")[0]
    assert f"Makefile, which the check `{MAKE}` goes by, was changed" in end["obs"]
    assert "patch" not in end["git"]
    assert {"Makefile", "ci/check.sh", "ovens.py"} <= _list_committed(shop)
    assert git(shop.root, "show", "HEAD:Makefile").startswith("all:")
    assert (shop.root / "Makefile").read_text().startswith("all:")
    assert not (shop.root / "ci").exists()
    assert shop.dirt() == ""


@pytest.mark.parametrize(
    ("title", "allows"), [("Let Makefile and ci/check.sh do less", False), ("Do less", True)]
)
def test_a_change_that_is_asked_for_needs_no_second_run(
    shop: Shop, title: str, allows: bool
) -> None:
    weaker = "printf 'test:\\n\\tsh ci/check.sh || true\\n' > Makefile"
    done = _attempt(shop, f"{BREAK}; {weaker}", title, allows=allows)
    assert done.outcomes == ["ok"]
    assert [event["base"] for event in done.of("check_start")] == [True, False]


def test_the_tests_as_they_were_may_show_that_the_work_is_sound(shop: Shop) -> None:
    """New tests need the new definition, and the old ones pass with the old one."""
    shop.write("test_ovens.py", TESTS.replace("import unittest", "import unittest, env"))
    shop.write("env.py", "")
    shop.write("Makefile", "test:\n\t$$PYTHON -B -m unittest -q test_ovens\n")
    shop.commit("env")
    new = "sed -i 's/import unittest, env/import os, unittest; os.environ[\"HEAT\"]/' test_ovens.py"
    new += "; printf 'test:\\n\\tHEAT=1 $$PYTHON -B -m unittest -q test_ovens\\n' > Makefile"
    assert _attempt(shop, f"{FIX}; {new}").outcomes == ["ok"]
    assert "os.environ" in git(shop.root, "show", "HEAD:test_ovens.py")
    assert shop.dirt() == ""


def test_a_check_that_found_no_test_before_has_no_definition_to_return_to(shop: Shop) -> None:
    shop.task(checks=["test -f new.txt && make -s test || { echo no tests ran in 0.01s; exit 5; }"])
    done = shop.run_agent("echo > new.txt; printf 'test:\\n\\ttrue\\n' > Makefile", once=True)
    assert done.outcomes == ["ok"]


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        ("printf 'all:\\n\\ttrue\\n' > libs/a/Makefile", "check_changed"),
        ("git mv libs/a libs/b", "ok"),
    ],
)
def test_a_package_has_definitions_of_its_own(shop: Shop, change: str, outcome: str) -> None:
    """They may go with the package, but not be replaced."""
    shop.write("Makefile", "test:\n\tfor d in libs/*; do $(MAKE) -C $$d || exit 1; done\n")
    shop.write("libs/a/Makefile", "all:\n\tgrep -q twice ../../made.txt\n")
    shop.write("made.txt", "twice\n")
    shop.commit("libs")
    loss = "echo once > made.txt; " if outcome != "ok" else ""
    assert shop.run_agent(f"{loss}{change}", checks="make test", once=True).outcomes == [outcome]


def test_tests_that_are_gone_fail_the_attempt(shop: Shop) -> None:
    """As are those that the runner skips; and the next attempt is told."""
    skip = (
        "sed -i 's/    def test_cool/    @unittest.skip(\"\")\\n    def test_cool/' test_ovens.py"
    )
    assert _attempt(shop, f"{FIX}; {skip}").outcomes == ["tests_removed"]
    reason = shop.ledger("attempt_end")[0]["fail"]["reason"]
    assert reason.startswith(f"1 test of `{MAKE}` that ran before no longer runs: test_ovens.py")
    assert shop.log()[0] != "task(s-1): Heat twice"


@pytest.mark.parametrize(
    ("title", "run", "outcome"),
    keep_few([
        ("Drop the tests in test_ovens.py", {}, "ok"),
        ("Drop the tests", {}, "tests_removed"),
        ("Drop the tests", {"allow_removed_tests": True}, "ok"),
        ("Drop `test_cool`, ovens are never cold", {}, "ok"),
    ], 2),
)  # fmt: skip
def test_tests_may_go_if_the_task_or_the_configuration_says_so(
    shop: Shop, title: str, run: dict[str, bool], outcome: str
) -> None:
    shop.configure(run=run)
    drop = "sed -i '/def test_cool/,$d' test_ovens.py"
    assert _attempt(shop, f"{FIX}; {drop}", title).outcomes == [outcome]


@pytest.mark.parametrize(
    "gone",
    keep_few([
        "rm test_ovens.py; echo > test_other.py",
        "echo > test_ovens.py",
        "sed -i 's/self.assert.*/pass/' test_ovens.py",
    ], 1),
)  # fmt: skip
def test_a_failing_test_is_not_fixed_by_its_end(shop: Shop, gone: str) -> None:
    shop.write("ovens.py", "def heat(n): return n\n")
    shop.write("test_all.py", "from test_ovens import *\n")
    shop.write("test_more.py", TESTS.replace("heat(1), 2", "heat(0), 0"))
    shop.write("ci/check.sh", '"$PYTHON" -B -m unittest -q\n')
    shop.commit("broken")
    title = "Fix the failing test in test_ovens.py"
    assert _attempt(shop, f"rm test_all.py; {gone}", title).outcomes == ["tests_removed"]
