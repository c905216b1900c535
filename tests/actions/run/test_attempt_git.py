"""Hooks: those of the person run on a commit, as they are in the checkout, and no other."""

from __future__ import annotations

import pytest

from tests.actions.run.shop import CHECK, Shop
from tests.conftest import git

MAKE = "echo made > made.txt"
# What a hook or a check can write outside of its tree.
_OUT = "out"


@pytest.fixture
def stocked(bakery: Shop) -> Shop:
    bakery.task()
    out = bakery.root.parent / _OUT
    out.mkdir()
    bakery.configure(run={"writable": [out.as_posix()]})
    bakery.install_hook("pre-commit", f"echo hooked >> {out}/hooked")
    return bakery


def _read_out(shop: Shop, name: str = "hooked") -> str:
    file = shop.root.parent / _OUT / name
    return file.read_text() if file.exists() else ""


@pytest.mark.parametrize("end", ["", "; exit 1"])
def test_only_an_accepted_attempt_is_committed_and_hooks_run_then(stocked: Shop, end: str) -> None:
    change = "git config core.hooksPath /dev/null; git config user.name Robot"
    done = stocked.run_agent(f"{MAKE}; {change}{end}", checks=CHECK, once=True)
    assert done.outcomes == ["harness_exit" if end else "ok"]
    assert git(stocked.root, "log", "-1", "--format=%an") == "t\n"
    assert _read_out(stocked) == ("" if end else "hooked\n")


@pytest.mark.parametrize(
    "plant",
    [
        "cp .git/hooks/pre-commit .git/hooks/post-commit; echo 'H' > .git/hooks/pre-commit",
        "rm -rf .git/hooks; ln -s .. .git/hooks; echo 'H' > ../pre-commit",
        "mkdir h; echo 'H' > h/pre-commit; chmod +x h/*; git config core.hooksPath h",
    ],
)
@pytest.mark.parametrize("who", ["agent", "check"])
def test_a_hook_that_an_attempt_writes_does_not_run(stocked: Shop, plant: str, who: str) -> None:
    """Checks run what agents wrote, before the agent and after it."""
    plant = plant.replace("H", f"touch {stocked.root.parent / _OUT}/smuggled")
    checks = CHECK if who == "agent" else f"{plant}; {CHECK}"
    done = stocked.run_agent(
        f"{MAKE}; {plant}; true" if who == "agent" else MAKE, checks=checks, once=True
    )
    assert done.outcomes == ["ok"]
    assert _read_out(stocked, "smuggled") == ""
    assert _read_out(stocked) == "hooked\n"


def test_a_hook_of_the_projects_files_runs_as_it_was_before_the_attempt(stocked: Shop) -> None:
    hook = stocked.write("hooks/pre-commit", (stocked.root / ".git/hooks/pre-commit").read_bytes())
    hook.chmod(0o755)
    git(stocked.root, "config", "core.hooksPath", "hooks")
    git(stocked.root, "add", "hooks")
    git(stocked.root, "commit", "-qm", "hooks", "--no-verify")
    done = stocked.run_agent(f"{MAKE}; echo exit 9 > hooks/pre-commit", no_checks=True, once=True)
    assert done.outcomes == ["ok"]
    assert _read_out(stocked) == "hooked\n"
    assert (stocked.root / "hooks/pre-commit").read_text() == "exit 9\n"
