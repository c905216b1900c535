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
    assert "config was changed by the attempt, and is restored" in done.notices
    assert (stocked.root / ".git" / "config").read_bytes() == before
    aside = stocked.attempt(done.end["run"]) / "git" / ".git-config"
    assert "Robot" in aside.read_text()
    assert git(stocked.root, "log", "-1", "--format=%an") == "t\n"
    # Only an accepted attempt is committed, and hooks run then.
    assert (stocked.root.parent / "hooked").exists() is not bool(end)


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


@pytest.mark.parametrize("linked", ["hooks", "info"])
@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_a_folder_that_is_made_a_link_costs_no_file_behind_it(
    stocked: Shop, linked: str, end: str
) -> None:
    stocked.write("githooks/pre-commit", "tracked\n")
    stocked.write("githooks/exclude", "tracked\n")
    stocked.commit("hooks")
    private = stocked.root.parent / "private"
    private.mkdir()
    (private / "letter").write_text("mine\n")
    stocked.client(f"""{MAKE}
        rm -rf .git/{linked}
        case $(basename $CUB_ATTEMPT) in 1) ln -s ../githooks .git/{linked};;
        *) ln -s {private} .git/{linked};; esac{end}""")
    stocked.run(no_checks=True, iterations=2)
    assert (stocked.root / "githooks" / "pre-commit").read_text() == "tracked\n"
    assert (stocked.root / "githooks" / "exclude").read_text() == "tracked\n"
    assert (private / "letter").read_text() == "mine\n"
    assert [path.name for path in private.iterdir()] == ["letter"]
    assert not (stocked.root / ".git" / linked).is_symlink()
    assert (stocked.root / ".git" / "hooks" / "pre-commit").stat().st_mode & 0o777 == 0o755
    assert git(stocked.root, "log", "--format=", "--name-only", "--", "githooks").split() == [
        "githooks/exclude",
        "githooks/pre-commit",
    ]


def test_a_hook_that_is_made_a_link_leaves_its_target(stocked: Shop) -> None:
    letter = stocked.root.parent / "letter"
    letter.write_text("mine\n")
    stocked.client(f"{MAKE}; ln -sf {letter} .git/hooks/pre-commit")
    done = stocked.run(no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert letter.read_text() == "mine\n"
    assert "hooked" in (stocked.root.parent / "hooked").read_text()


def test_a_large_hook_does_not_run_either(stocked: Shop) -> None:
    large = stocked.root / ".git" / "hooks" / "pre-commit"
    large.write_text(large.read_text() + "#" * (2 << 20))
    was = large.read_bytes()
    stocked.client(f"""{MAKE}
        {{ printf '#!/bin/sh\ntouch ../smuggled\n#'; head -c 2000000 /dev/zero; }} > hook
        cp hook .git/hooks/pre-commit; cp hook .git/hooks/post-commit
        chmod +x .git/hooks/post-commit; rm hook""")
    done = stocked.run(no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert not (stocked.root.parent / "smuggled").exists()
    assert "hooked" in (stocked.root.parent / "hooked").read_text()
    assert large.read_bytes() == was
    assert not large.with_name("post-commit").exists()


def test_a_configuration_that_waits_for_a_writer_is_put_back(stocked: Shop) -> None:
    config = stocked.root / ".git" / "config"
    was = config.read_bytes()
    stocked.client(f"{MAKE}; rm .git/config; mkfifo .git/config")
    done = stocked.run(no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert config.read_bytes() == was


@pytest.mark.parametrize(
    "change",
    [
        "git config pager.log 'touch PWN; cat'",
        "git config credential.helper '!touch PWN'",
        "git config alias.st '!touch PWN'",
        "git config remote.origin.pushurl https://evil",
        "git config url.https://evil.insteadOf https://mine",
    ],
)
def test_what_would_run_later_is_put_back(stocked: Shop, change: str) -> None:
    git(stocked.root, "remote", "add", "origin", "https://mine")
    config = stocked.root / ".git" / "config"
    was = config.read_bytes()
    stocked.client(f"{MAKE}; {change}")
    done = stocked.run(no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert config.read_bytes() == was
    assert ".git/config was changed by the attempt, and is restored" in done.notices


def test_a_check_plants_no_hook_either(stocked: Shop) -> None:
    """Checks run what agents wrote, before the client and after it."""
    plant = "printf '#!/bin/sh\ntouch ../smuggled\n' > .git/hooks/post-commit"
    stocked.client(MAKE)
    done = stocked.run(checks=f"{plant}; chmod +x .git/hooks/post-commit", once=True)
    assert done.outcomes == ["ok"]
    assert not (stocked.root.parent / "smuggled").exists()
    assert not (stocked.root / ".git" / "hooks" / "post-commit").exists()
