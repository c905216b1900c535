"""A run in a process of its own, with an agent that does harm, or that is killed at a moment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.actions.run.shop import Shop
from tests.command_line import Result
from tests.fork_server import start_cub
from tests.processes.programs import make_sleep

CHECK = "sh check.sh"
NOTES, SECRET = "a person's notes\n", "KEY=1\n"
MAILBOX = "$(dirname $(find $HOME -name attempt.json))"  # as the agent finds it


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
    shop.client(f"cat > /dev/null; {agent}")
    asked = ("run", "--once", "--trust", "--harness", "mine")
    return shop.call(*asked, *(words or ("--check", CHECK)))


def attack_until_killed(shop: Shop, agent: str) -> str:
    """Run with an agent that does this, and then another command, which is returned; kill cub."""
    said, sleep = '{"type":"tool","text":"now"}', make_sleep()
    shop.client(f"cat > /dev/null; {agent}; echo '{said}'; {sleep}")
    reads, writes = os.pipe()
    words = ("run", "--once", "--trust", "--harness", "mine", "--check", CHECK, "--json")
    with Path(os.devnull).open("r+b") as null, os.fdopen(reads) as lines:
        process = start_cub(
            words, cwd=shop.root, environ=shop.environ,
            descriptors=(null.fileno(), writes, null.fileno()),
        )  # fmt: skip
        os.close(writes)
        assert any('"now"' in line for line in lines)
        process.kill()
    assert process.wait() == -9
    return sleep


def run_killed(shop: Shop, step: int | str) -> subprocess.CompletedProcess[str]:
    """Run until the run kills itself at a step (see killed.py)."""
    words = [
        sys.executable,
        "-m",
        "tests.actions.run.killed",
        shop.root,
        shop.environ["HOME"],
        step,
    ]
    return subprocess.run(
        [str(word) for word in words],
        cwd=Path(__file__).parents[3],
        env={**shop.environ, "XDG_CACHE_HOME": shop.environ["HOME"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def is_untouched(shop: Shop) -> bool:
    """Whether nothing of the person's has changed."""
    files = {name: (shop.root / name).read_text() for name in ("a.py", "notes.txt", "secret.env")}
    wanted = {"a.py": "A = 1\n", "notes.txt": NOTES, "secret.env": SECRET}
    return files == wanted and shop.dirt() == "?? notes.txt\n"
