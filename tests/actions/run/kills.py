"""`python -m tests.actions.run.kills COUNT [SEED [JOBS]]`: runs that are killed again and again at
random moments, cub, its keeper or both, while a person commits; then all that must hold is looked
at.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.actions.run.shop import Shop, shop, surroundings
from tests.conftest import git

# It fails every third attempt, changes and removes a person's files, and leaves something running.
AGENT = """
cat > /dev/null; n=$(basename "$CUB_ATTEMPT"); echo half >> kept.txt; rm -f notes.txt
sleep 0.05; sleep 30 & echo "$CUB_TASK" > "work-$CUB_TASK.txt"; sleep 0.05
git checkout -q HEAD -- kept.txt
# A commit that nobody could tell from the person's has stayed: there is nothing left to do.
if git diff --quiet HEAD -- "work-$CUB_TASK.txt" && git ls-files --error-unmatch \
  "work-$CUB_TASK.txt"; then echo "Status: no_change"; exit 0; fi
# Another failure each time: three equal ones would park the task.
if [ $((n % 3)) = 1 ]; then echo "a$n.py:1:1: F821 $CUB_TASK" > wrong; fi
if [ $((n % 3)) = 2 ]; then git add "work-$CUB_TASK.txt"; git commit -qm "agent $CUB_TASK"; fi
"""
CHECK = "sleep 0.03; test ! -s wrong || { cat wrong; exit 1; }"
HOOK = "#!/bin/sh\nsleep 0.03\n"
NOTES = "a person's, unknown to git\r\n"
_MORE = 10  # tasks


@dataclass
class Campaign:
    """A repository, and what the person has done in it: the subjects of commits in the checkout
    while nothing ran there, and in a work tree beside it.
    """

    made: Shop
    beside: Path
    chance: random.Random
    tasks: int = 0
    mine: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    jobs: int = 1

    def prepare(self) -> None:
        """Tasks, hooks, files that git does not know, a linked work tree."""
        self.made.client(AGENT)
        self.made.configure(run={"max_attempts": 1000})
        self.add_tasks()
        self.made.write(".gitignore", ".cub/\nsecret.env\n")
        self.made.commit("files")
        self.made.write("notes.txt", NOTES)
        self.made.write("secret.env", "KEY=1\n")
        for name in ("pre-commit", "post-commit"):
            hook = self.made.root / ".git/hooks" / name
            hook.write_text(HOOK)
            hook.chmod(0o755)
        git(self.made.root, "worktree", "add", "-q", "-b", "beside", str(self.beside))

    def add_tasks(self) -> None:
        """More tasks, while no run is at work."""
        for number in range(self.tasks, self.tasks + _MORE):
            self.made.task(f"s-{number}")
        self.tasks += _MORE

    def start(self) -> subprocess.Popen[bytes]:
        """A run to the end of all tasks, if nobody kills it."""
        argv = [
            sys.executable,
            "-m",
            "cub",
            "run",
            "--trust",
            "--harness",
            "mine",
            "--check",
            CHECK,
            "--jobs",
            str(self.jobs),
        ]
        return subprocess.Popen(
            argv,
            cwd=self.made.root,
            env=self.made.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def kill(self, run: subprocess.Popen[bytes]) -> str:
        """Kill cub, its keeper, or both; what was killed, "" if the run had ended."""
        what = self.chance.choice(("cub", "keeper", "both"))
        keepers = []
        with suppress(psutil.Error):
            children = psutil.Process(run.pid).children()
            keepers = [one.pid for one in children if "keeper" in " ".join(one.cmdline())]
        if what != "cub" and not keepers:
            what = "cub"
        ended = run.poll() is not None
        victims = {"cub": [run.pid], "keeper": keepers, "both": [*keepers, run.pid]}[what]
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if what == "keeper" and self.chance.random() < 0.5:
            run.terminate()
        return "" if ended else what

    def commit_beside(self) -> None:
        """The person commits in another work tree of the repository while the run is at work."""
        name = f"other-{len(self.others)}.txt"
        (self.beside / name).write_text(name)
        git(self.beside, "add", name)
        git(self.beside, "commit", "-qm", name)
        self.others.append(name)

    def commit_here(self) -> None:
        """The person commits a file in the checkout, where no run is at work any more."""
        name = f"mine-{len(self.mine)}.txt"
        (self.made.root / name).write_text(name)
        lock = self.made.root / ".git/index.lock"
        lock.unlink(missing_ok=True)  # as git asks a person to
        git(self.made.root, "add", name)
        git(self.made.root, "commit", "-qm", name, "--", name)
        self.mine.append(name)

    def run_killed(self) -> str:
        """One run and one kill; what was killed."""
        run = self.start()
        assert run.stdout is not None
        run.stdout.readline()  # its start takes longer than an attempt
        time.sleep(self.chance.uniform(0.0, 1.6))
        if self.chance.random() < 0.5:
            self.commit_beside()
        killed = self.kill(run)
        out, _ = run.communicate(timeout=120)
        assert b"Traceback" not in out, out.decode()
        assert b"bug in cub" not in out, out.decode()
        if killed and self.chance.random() < 0.4:
            time.sleep(self.chance.choice((0.0, 0.3)))
            self.commit_here()
        return killed

    def check(self) -> list[str]:
        """Run to the end; what does not hold."""
        run = self.start()
        out, _ = run.communicate(timeout=600)
        root, log = self.made.root, self.made.log()
        wrong = [] if run.returncode == 0 else [f"the last run: {out.decode()}"]
        for number in range(self.tasks):
            subjects = (f"task(s-{number}): Do s-{number}", f"agent s-{number}")
            if (times := sum(map(log.count, subjects))) != 1:
                wrong.append(f"{times} commits of s-{number}")
            if _read(root / f"work-s-{number}.txt") != f"s-{number}\n":
                wrong.append(f"the work of s-{number} is not as it should be")
            if self.made.status(f"s-{number}") != "closed":
                wrong.append(f"s-{number} is {self.made.status(f's-{number}')}")
        gone = [one for one in self.mine if log.count(one) != 1 or _read(root / one) != one]
        wrong += [f"the person's {name} is {log.count(name)} times there" for name in gone]
        beside = git(self.beside, "log", "--format=%s").splitlines()
        wrong += [f"beside: {name}" for name in self.others if beside.count(name) != 1]
        files = {"notes.txt": NOTES, "secret.env": "KEY=1\n", "kept.txt": "kept\n"}
        wrong += [f"{name} was touched" for name in files if _read(root / name) != files[name]]
        if (dirt := self.made.dirt()) != "?? notes.txt\n":
            wrong.append(f"left over: {dirt!r}")
        if left := [one for one in psutil.process_iter() if _is_of(one, root)]:
            wrong.append(f"processes live on: {left}")
        return wrong


def _read(path: Path) -> str:
    return path.read_bytes().decode() if path.is_file() else ""


def _is_of(process: psutil.Process, root: Path) -> bool:
    with suppress(psutil.Error, OSError):
        return process.cwd() == str(root) and process.status() != psutil.STATUS_ZOMBIE
    return False


def run_campaign(
    folder: Path, kills: int, seed: int, jobs: int = 1
) -> tuple[dict[str, int], list[str]]:
    """Kill so many runs; how often what was killed, and what does not hold."""
    root, home = folder / "project", folder / "home"
    root.mkdir()
    home.mkdir()
    git(root, "init", "-q")
    campaign = Campaign(shop(root, home), folder / "beside", random.Random(seed), jobs=jobs)
    campaign.made.environ |= {**surroundings(home), "XDG_STATE_HOME": str(home / ".local/state")}
    campaign.prepare()
    counts: dict[str, int] = {}
    while sum(counts.values()) < kills:
        killed = campaign.run_killed()
        if killed:
            counts[killed] = counts.get(killed, 0) + 1
        else:  # nothing is left to do
            campaign.add_tasks()
    return counts, campaign.check()


if __name__ == "__main__":
    KILLS, SEED, JOBS = map(int, (*sys.argv[1:], "1", "1")[:3])
    with tempfile.TemporaryDirectory() as name:
        COUNTS, WRONG = run_campaign(Path(name).resolve(), KILLS, SEED, JOBS)
    sys.stdout.write(f"killed: {COUNTS}\n" + "".join(f"{line}\n" for line in WRONG))
    sys.exit(bool(WRONG))
