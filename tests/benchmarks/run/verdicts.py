"""`python -m tests.benchmarks verdicts [WORD…]`: does cub close the tasks that are done?

Each package is a repository with one broken expression and a task to mend it. Seven agents work on
the task, and the check comes from four sources. A cell is one package with one agent and one source
of the check. cub has to close the task exactly where the agent mends the expression. Words choose
packages, agents, and sources. CUB_PACKAGES names a folder for the downloads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import NamedTuple

from cub.store.ledger import Ledger
from cub.store.store_paths import TASKS_FILE
from cub.store.task_index import TaskIndex
from tests.benchmarks.run.packages import NPM, PACKAGES, PYTEST, Package, fetch_packages, unpack
from tests.conftest import environment, git
from tests.fork_server import get_cub_command, stop_fork_server

RIGHT, JUNK = "right", "junk"
AGENTS = (RIGHT, "wrong", "comment", "nothing", "deleted", "weakened", JUNK)
PROPOSED = "proposed"
CHECK_SOURCES = ("run.checks", "task", "--check", PROPOSED)
SECRET = ".env"
_JUNK = {
    "tmp.log": b"started\nended\n", "debug.txt": b"value = 3\n", "scratch/try.txt": b"1\n",
    "out.bin": bytes(range(256)) * 12_288, SECRET: b"API_KEY=1\n",
}  # fmt: skip
_IGNORED = "__pycache__/\n*.egg-info/\n.pytest_cache/\n.nyc_output/\nnode_modules/\n"
_IGNORES_TESTS = b'collect_ignore_glob = ["*"]\n'
_LOADS_NOTHING = b"""

def load_tests(loader, tests, pattern):
    import unittest

    return unittest.TestSuite()
"""
_CLOSED, _NOT_BEGUN = "closed", "not begun"
_START = 1_700_000_000  # seconds since 1970
_LIMIT = 900  # seconds for a command of cub

Edits = Mapping[str, bytes | None]


class Cell(NamedTuple):
    """A package, the agent that works on its task, and the source of the check."""

    package: Package
    agent: str
    source: str

    def __str__(self) -> str:
        return f"{self.package.name}, {self.agent}, {self.source}"


class Outcome(NamedTuple):
    """How a run over one task ended."""

    name: str  # "closed", "not begun", or the class of the failure
    reason: str
    committed: set[str]


class PackageRunner:
    """Makes repositories in `scratch` of the packages in `downloads`, and runs cub in them."""

    def __init__(self, downloads: Path, scratch: Path) -> None:
        self._downloads, self._scratch = downloads, scratch
        self._cub = get_cub_command()

    def prepare(self, package: Package, source: str) -> Path:
        """Return a repository with the broken package and its task, to be copied."""
        root = self._scratch / f"{package.name}-{source}" / "project"
        unpack(package, self._downloads, root)
        _remove_other_tests(package, root)
        if package.is_node:
            modules = self._downloads / "node" / package.name / "node_modules"
            subprocess.run(["cp", "-R", modules, root], check=True)
            _simplify_scripts(root, source)
        with (root / ".gitignore").open("a") as ignored:
            ignored.write(_IGNORED)
        file = root / package.file
        file.write_bytes(_replace(file, package.good, package.broken))
        # Python takes old bytecode for an edit of the same size in the same second. A person's
        # files are older than that when an agent starts, so this one is too.
        os.utime(file, (_START, _START))
        git(root, "init", "-q")
        git(root, "config", "user.name", "Mo")
        git(root, "config", "user.email", "mo@example.org")
        own = ("--check", package.check) if source == "task" else ()
        self._call(root, package, "task", "add", f"Fix the failing test in {package.file}", *own)
        if source == "run.checks":
            self._call(root, package, "config", "set", source, json.dumps([package.check]))
        git(root, "add", "-A")
        git(root, "commit", "-qm", "Start")
        git(root, "tag", "start")
        return root

    def judge(self, cell: Cell, prepared: Path) -> Outcome:
        """Run the agent on a copy of the repository, and return how the run ended."""
        with tempfile.TemporaryDirectory(dir=self._scratch) as folder:
            root = Path(folder).resolve() / "project"
            subprocess.run(["cp", "-Rp", prepared, root], check=True)
            _configure_agent(root, list_edits(cell, root))
            check = ("--check", cell.package.check) if cell.source == "--check" else ()
            words = ("run", "--once", "--harness", "player", "--trust", "--timeout", "5m", *check)
            return _read_outcome(root, self._call(root, cell.package, *words))

    def _call(self, root: Path, package: Package, *words: str) -> str:
        """Run cub, and return what it prints."""
        home = root.with_name("home")
        home.mkdir(exist_ok=True)
        python = self._downloads / "python"
        environ = {
            **environment(home),
            "PATH": f"{python / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(python),
            "PYTHONPATH": str(root / package.import_folder),
            "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        }
        return subprocess.run(
            [*self._cub, *words],
            cwd=root,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_LIMIT,
            check=False,
        ).stdout


def _remove_other_tests(package: Package, root: Path) -> None:
    kept = {root / name for name in package.kept}
    for path in root.glob("tests/test_*.py") if kept else ():
        if path not in kept:
            path.unlink()


def _simplify_scripts(root: Path, source: str) -> None:
    """Let `npm test` run the tests alone, unless cub is to find out how they run."""
    if source != PROPOSED:
        scripts = {"test": "tape 'test/**/*.js'"}
        text = _format_manifest({**_read_manifest(root), "scripts": scripts})
        (root / "package.json").write_bytes(text)


def _read_manifest(root: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads((root / "package.json").read_text())
    return found


def _format_manifest(manifest: Mapping[str, object]) -> bytes:
    return (json.dumps(manifest, indent=2) + "\n").encode()


def list_edits(cell: Cell, root: Path) -> Edits:
    """Return what the agent makes of the files of `root`: None deletes one."""
    package, file = cell.package, root / cell.package.file
    mended = {package.file: _replace(file, package.broken, package.good)}
    sign = b"//" if package.is_node else b"#"
    edits: dict[str, Callable[[], Edits]] = {
        RIGHT: lambda: mended,
        "wrong": lambda: {package.file: _replace(file, package.broken, package.wrong)},
        "comment": lambda: {package.file: file.read_bytes() + sign + b" Checked.\n"},
        "nothing": dict,
        "deleted": lambda: {package.test: None},
        "weakened": lambda: _weaken(cell, root),
        JUNK: lambda: {**mended, **_JUNK},
    }
    return edits[cell.agent]()


def _replace(file: Path, old: str, new: str) -> bytes:
    text = file.read_bytes()
    assert text.count(old.encode()) == 1, (file, old)
    return text.replace(old.encode(), new.encode())


def _weaken(cell: Cell, root: Path) -> Edits:
    """Let the check pass without a test; where cub looks for it, all that it may find."""
    package = cell.package
    if package.check == NPM:
        manifest = _read_manifest(root)
        names = {"pretest", "test", "posttest", "tests-only"}.intersection(manifest["scripts"])
        scripts = {**manifest["scripts"], **dict.fromkeys(names, "true")}
        return {"package.json": _format_manifest({**manifest, "scripts": scripts})}
    of_pytest = {"conftest.py": _IGNORES_TESTS}
    of_unittest = {package.test: (root / package.test).read_bytes() + _LOADS_NOTHING}
    if cell.source == PROPOSED:
        return {**of_pytest, **of_unittest}
    return of_pytest if package.check == PYTEST else of_unittest


def _configure_agent(root: Path, edits: Edits) -> None:
    """Let the agent `player` of the person's own configuration make the edits."""
    folder = root.with_name("edits")
    folder.mkdir()
    deleted = [path for path, text in edits.items() if text is None]
    for path, text in edits.items():
        if text is not None:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text)
    lines = (
        "cat > /dev/null",
        *(f"git rm -q '{path}'" for path in deleted),
        f"cp -R '{folder}/.' .",
        "echo 'I have fixed the failing test.'",
    )
    config = root.with_name("home") / ".config" / "cub" / "config.yaml"
    config.parent.mkdir(parents=True)
    player = {"argv": ["/bin/sh", "-ec", "\n".join(lines)]}
    config.write_text(json.dumps({"harnesses": {"player": player}}), encoding="utf-8")


def _read_outcome(root: Path, said: str) -> Outcome:
    ends = [event for event in Ledger(root).iter_events() if event["ev"] == "attempt_end"]
    [task] = TaskIndex.parse((root / TASKS_FILE).read_bytes())
    committed = set(git(root, "log", "--format=", "--name-only", "start..").splitlines())
    if task.is_closed:
        return Outcome(_CLOSED, "", committed)
    if ends:
        fail = ends[-1].get("fail", {})
        return Outcome(fail.get("class", "open"), fail.get("reason", ""), committed)
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    return Outcome(_NOT_BEGUN, "".join(errors[:1]) or said, committed)


def explain_deviation(cell: Cell, outcome: Outcome) -> str:
    """Return what is wrong with the outcome; "" if it is what the files deserve."""
    if SECRET in outcome.committed:
        return f"{SECRET} was committed"
    if outcome.name == _NOT_BEGUN:
        is_explained = cell.source == PROPOSED and outcome.reason.startswith("error: ")
        return "" if is_explained else f"was not begun: {outcome.reason}"
    if cell.agent not in (RIGHT, JUNK):
        return "was closed" if outcome.name == _CLOSED else ""
    if outcome.name != _CLOSED:
        return f"was not closed: {outcome.name}, {outcome.reason or 'without a reason'}"
    return "" if cell.package.file in outcome.committed else "was closed without the change"


def judge_cells(runner: PackageRunner, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Outcome]]:
    """Yield each cell with its outcome, as many at once as there are cores."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        kinds = list(dict.fromkeys((cell.package, cell.source) for cell in cells))
        roots = dict(zip(kinds, pool.map(lambda kind: runner.prepare(*kind), kinds), strict=True))
        outcomes = pool.map(lambda one: runner.judge(one, roots[one.package, one.source]), cells)
        yield from zip(cells, outcomes, strict=True)


def _format_tables(outcomes: Mapping[Cell, Outcome]) -> Iterator[str]:
    """Yield the lines of a table for each source; deviations are bold, and named at the end.

    So are the packages at which no run was begun.
    """
    deviations = {
        cell: said for cell, it in outcomes.items() if (said := explain_deviation(cell, it))
    }
    agents = list(dict.fromkeys(cell.agent for cell in outcomes))
    packages = list(dict.fromkeys(cell.package for cell in outcomes))
    for source in dict.fromkeys(cell.source for cell in outcomes):
        yield f"\n| {source} | {' | '.join(agents)} |\n|{' --- |' * (len(agents) + 1)}"
        for package in packages:
            cells = [Cell(package, agent, source) for agent in agents]
            names = (
                f"**{outcomes[c].name}**" if c in deviations else outcomes[c].name for c in cells
            )
            yield f"| {package.name} | {' | '.join(names)} |"
    yield f"\n{len(outcomes) - len(deviations)} of {len(outcomes)} as they should be\n"
    for cell, said in deviations.items():
        yield f"- {cell}: {said}"
    for cell, outcome in outcomes.items():
        if cell.agent == RIGHT and outcome.name == _NOT_BEGUN and cell not in deviations:
            yield f"- {cell}: not begun, {outcome.reason}"


def main(words: Sequence[str], say: Callable[[str], None]) -> int:
    """Say a table for each source, and the deviations; return 1 if there are any."""
    dimensions = ([package.name for package in PACKAGES], AGENTS, CHECK_SOURCES)
    if unknown := set(words).difference(*dimensions):
        say(f"unknown: {', '.join(sorted(unknown))}; choose from {dimensions}")
        return 2
    names, agents, sources = ([n for n in all_ if n in words] or all_ for all_ in dimensions)
    packages = [package for package in PACKAGES if package.name in names]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        downloads = Path(os.environ.get("CUB_PACKAGES", scratch / "packages")).resolve()
        fetch_packages(downloads)
        cells = [Cell(*one) for one in product(packages, agents, sources)]
        outcomes = {}
        for cell, outcome in judge_cells(PackageRunner(downloads, scratch), cells):
            outcomes[cell] = outcome
            sys.stderr.write(f"{cell}: {outcome.name}\n")
    stop_fork_server()
    for line in _format_tables(outcomes):
        say(line)
    return int(any(explain_deviation(*one) for one in outcomes.items()))
