"""A run in a process of its own whose agent may kill it: `$C` is cub, `$K` is its keeper."""

from __future__ import annotations

from cub.files.signed_state import find_project_state
from tests.actions.run.shop import Shop
from tests.command_line import Result
from tests.conftest import git
from tests.processes.programs import until

FIND = "K=$(ps -o ppid= $$ | tr -d ' '); C=$(ps -o ppid= $K | tr -d ' '); cat > /dev/null; "
CHECK = "sh check.sh"
NOTES, SECRET = "a person's notes\n", "KEY=1\n"


def prepare(shop: Shop) -> Shop:
    """The repository that the attacks were tried on."""
    shop.write("a.py", "A = 1\n")
    shop.write("check.sh", 'grep -q "A = 1" a.py\n')
    shop.write(".gitignore", "secret.env\n")
    shop.commit("files")
    shop.write("notes.txt", NOTES)
    shop.write("secret.env", SECRET)
    shop.task()
    return shop


def attack(shop: Shop, agent: str, *words: str) -> Result:
    """Run once, with an agent that does this."""
    shop.client(FIND + agent)
    asked = ("run", "--once", "--trust", "--harness", "mine")
    return shop.call(*asked, *(words or ("--check", CHECK)))


def await_end(shop: Shop) -> None:
    """Wait until the keeper of a killed run has noted that all of the agent's has ended."""
    state = find_project_state(shop.root) / "runs"
    assert until(lambda: any(state.glob("*/*/*/ended")))


def is_untouched(shop: Shop) -> bool:
    """Whether nothing of the person's has changed."""
    files = {name: (shop.root / name).read_text() for name in ("a.py", "notes.txt", "secret.env")}
    return files == {
        "a.py": "A = 1\n",
        "notes.txt": NOTES,
        "secret.env": SECRET,
    } and not git(shop.root, "status", "--porcelain", "-uno", "--", ".", ":!.cub")
