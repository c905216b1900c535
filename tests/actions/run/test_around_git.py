"""What an attempt does to git itself: its settings and hooks are those of the person again."""

from __future__ import annotations

import pytest

from tests.actions.run.shop import CHECK, Shop, alive
from tests.conftest import git

MAKE = "cat > /dev/null; echo made > made.txt"


@pytest.fixture
def stocked(bakery: Shop) -> Shop:
    bakery.task()
    bakery.write(".git/hooks/pre-commit", "#!/bin/sh\necho hooked >> ../hooked\n").chmod(0o755)
    return bakery


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_settings_of_git_are_back_and_hooks_run(stocked: Shop, end: str) -> None:
    before = (stocked.root / ".git" / "config").read_bytes()
    change = "git config core.hooksPath /dev/null; git config user.name Robot"
    stocked.client(f"{MAKE}; {change}; git config core.worktree {stocked.root.parent}{end}")
    done = stocked.run(checks=CHECK, once=True)
    assert done.outcomes == ["harness_exit" if end else "ok"]
    assert "config was changed by the attempt, and is back" in done.notices
    assert (stocked.root / ".git" / "config").read_bytes() == before
    aside = stocked.attempt(done.end["run"]) / "git" / ".git-config"
    assert "Robot" in aside.read_text()
    assert git(stocked.root, "log", "-1", "--format=%an") == "t\n"
    assert "hooked" in (stocked.root.parent / "hooked").read_text()


def test_what_a_person_sets_for_remotes_and_branches_stays(stocked: Shop) -> None:
    stocked.client(f"{MAKE}; git config remote.there.url /somewhere; exit 1")
    done = stocked.run(no_checks=True, once=True)
    assert git(stocked.root, "config", "remote.there.url") == "/somewhere\n"
    assert "config" not in done.notices


def test_a_hook_that_an_attempt_writes_does_not_run(stocked: Shop) -> None:
    stocked.client(f"""{MAKE}
        printf '#!/bin/sh\necho smuggled > kept.txt; git add kept.txt\n' > .git/hooks/pre-commit
        cp .git/hooks/pre-commit .git/hooks/post-commit""")
    done = stocked.run(no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert (stocked.root / "kept.txt").read_text() == "kept\n"
    assert not (stocked.root / ".git" / "hooks" / "post-commit").exists()
    assert "hooked" in (stocked.root.parent / "hooked").read_text()
    aside = stocked.attempt(done.end["run"]) / "git"
    assert {path.name for path in aside.iterdir()} == {"hooks-pre-commit", "hooks-post-commit"}


def test_what_an_attempt_excludes_is_seen_and_put_back(stocked: Shop) -> None:
    stocked.client("cat > /dev/null; echo poison > p.txt; echo p.txt >> .git/info/exclude; exit 1")
    stocked.run(no_checks=True, once=True)
    assert not (stocked.root / "p.txt").exists()


def test_a_client_that_kills_its_keeper_leaves_nothing_behind(stocked: Shop) -> None:
    pid = stocked.root.parent / "pid"
    stray = f"""
        cat > /dev/null
        "$PYTHON" -c "import os, time; os.setsid(); time.sleep(1000)" & echo $! > {pid}
        kill -9 $PPID; sleep 9"""
    stocked.client(stray)
    stocked.run(no_checks=True, once=True)
    assert not alive([int(pid.read_text())])
