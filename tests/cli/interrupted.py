"""Projects as killed commands leave them, and every command that finds one so, in this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cub.actions.config_set import plan_config_set
from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.actions.project_map import MapOptions, plan_map, render_map_file
from cub.actions.remove import plan_remove
from cub.actions.repair import plan_repair
from cub.actions.run.past_attempts import PastAttempt
from cub.actions.run.patch_plan import plan_patch
from cub.actions.tasks.stores import plan_git_files
from cub.cli.app import run_command_line
from cub.edit.plan import Plan
from cub.files.apply import apply_plan
from cub.files.disk import Disk
from cub.files.internal_files import CacheWrite
from cub.files.lock import lock_project
from cub.project.project import Project
from cub.store.jsonl import encode_record
from tests.cli.standing import MINE, NO_END
from tests.conftest import git
from tests.files.worlds import sign_journal
from tests.store.records import task

Entry = tuple[str, bytes | str, int]
Tree = dict[str, Entry]
TASKS = b"\n".join(encode_record(task(key)) for key in ("a-1", "b-2")) + b"\n"
# What holds a moment or an id that is another one each time, or is thrown away at any time.
_PASSING = (".cub/tasks.jsonl", ".cub/ledger.jsonl", ".cub/runs", ".cub/cache", "out.jsonl")


def saved(root: Path) -> Tree:
    """Every file, link and folder; names of one file have one number."""
    return {path.relative_to(root).as_posix(): _entry(path) for path in sorted(root.rglob("*"))}


def _entry(path: Path) -> Entry:
    if path.is_symlink():
        return "link", str(path.readlink()), 0
    if path.is_dir():
        return "folder", "", 0
    return "file", path.read_bytes(), path.stat().st_ino


def rebuilt(tree: Tree, folder: Path) -> Path:
    """A project like the one that was saved."""
    root, known = folder / "shop", dict[int, Path]()
    root.mkdir(parents=True)
    for name, (kind, content, number) in tree.items():
        path = root / name
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(str(content))
        elif number in known:
            os.link(known[number], path)
        else:
            path.write_bytes(bytes(content))  # type: ignore[arg-type]
            known[number] = path
    sign_journal(root.resolve())
    return root.resolve()


def lasting(root: Path) -> dict[str, tuple[str, bytes | str]]:
    """What two runs of a command on one project have in common."""
    found = {name: entry for name, entry in _contents(saved(root)).items() if name != ".cub"}
    return {name: entry for name, entry in found.items() if not name.startswith(_PASSING)}


def _bare(root: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md"):
        (root / name).write_bytes(MINE)
    (root / "app.py").write_bytes(b"def bake():\n    return 1\n")
    (root / "in.jsonl").write_bytes(encode_record(task("c-3")) + b"\n")


def _installed(root: Path) -> None:
    """With work for `cub update` and `cub map`."""
    _bare(root)
    with lock_project(root) as held:
        apply_plan(_init(Project.load(root)), held)
    (root / ".cub/tasks.jsonl").write_bytes(TASKS)
    (root / ".cub/config.yaml").write_bytes(b"inline: [constitution]\n")
    (root / "shop.py").write_bytes(b"def sell():\n    return 2\n")


def _broken(root: Path) -> None:
    _bare(root)
    (root / "AGENTS.md").write_bytes(NO_END)


class Change(NamedTuple):
    """What a command changes with a journal: the project before, and the plan."""

    build: Callable[[Path], None]
    plan: Callable[[Project], Plan]


def _uncached(write: CacheWrite) -> None:
    """Caches are written behind the change: who is killed leaves none."""


def _init(project: Project) -> Plan:
    return plan_init(project, InitOptions(schedule_write=_uncached))


def _update(project: Project) -> Plan:
    return plan_update(project, schedule_write=_uncached)


def _map(project: Project) -> Plan:
    return plan_map(project, render_map_file(project, MapOptions(schedule_write=_uncached)), ())


def _patched(root: Path) -> None:
    """With a patch that changes, makes and deletes a file."""
    _installed(root)
    for words in (("init", "-q"), ("add", "*.py", "*.md"), ("commit", "-q", "-m", "x")):
        git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", *words)
    (root / ".cub/ledger.jsonl").write_bytes(encode_record(_END) + b"\n")
    attempt = root / ".cub/runs/r/a-1/1"
    attempt.mkdir(parents=True)
    (attempt / "changes.patch").write_text(_PATCH)


_END = {
    "v": 1,
    "ev": "attempt_end",
    "ts": "2026-01-01T08:00:00Z",
    "run": "r",
    "task": "a-1",
    "n": 1,
}
_PATCH = """\
diff --git a/app.py b/app.py
old mode 100644
new mode 100755
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 def bake():
-    return 1
+    return 3
diff --git a/new/oven.py b/new/oven.py
new file mode 100644
--- /dev/null
+++ b/new/oven.py
@@ -0,0 +1 @@
+HOT = True
diff --git a/shop.py b/shop.py
deleted file mode 100644
--- a/shop.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def sell():
-    return 2
"""


def _apply(project: Project) -> Plan:
    attempt = PastAttempt(project.root, ".cub/runs/r/a-1/1", _END)
    return plan_patch(project, attempt)


# Commands that change tasks, and runs, have a plan before the first task alone: git's files.
CHANGES = {
    "init": Change(_bare, _init),
    "update": Change(_installed, _update),
    "remove": Change(_installed, lambda project: plan_remove(project, purge=True)),
    "repair": Change(_broken, lambda project: plan_repair(project, 1, ())),
    "map": Change(_installed, _map),
    "config set": Change(
        _installed, lambda project: plan_config_set(project, "run.max_attempts", "7")
    ),
    "run apply": Change(_patched, _apply),
    "task add": Change(_bare, plan_git_files),
}

WRITERS: dict[str, tuple[str, ...]] = {
    "init": (),
    "update": (),
    "remove": (),
    "repair": ("--apply", "1"),
    "map": (),
    "config set": ("run.max_attempts", "5"),
    "run": ("--once", "--harness", "scripted", "--no-checks", "--trust"),
    "run apply": ("a-1",),
    "task add": ("x",),
    "task edit": ("a-1", "-p", "0"),
    "task claim": ("a-1",),
    "task close": ("a-1",),
    "task reopen": ("a-1",),
    "task start": ("a-1",),
    "task done": ("a-1",),
    "task delete": ("a-1", "--yes", "--force"),
    "task park": ("a-1",),
    "task import": ("{root}/in.jsonl",),
    "task export": ("-o", "out.jsonl"),
    "doctor": ("--fix",),
    "task dep add": ("a-1", "b-2"),
    "task dep remove": ("a-1", "b-2"),
    "ledger archive": ("--before", "2020-01-01"),
}
# `trust` and `config set --user` write the person's own files, `demo` a folder of its own.
READERS = {
    "task list", "task ready", "task show", "task stats", "run status", "run logs", "run show",
    "prompt", "ledger show", "ledger list", "ledger stats", "ledger tail", "trust", "diff",
    "status", "config show", "config get", "config path", "config schema", "demo", "schema", "help",
    "version", "agents", "agents prove", "context", "code",
    # Sessions are outside of projects.
    "code sessions", "code sessions list", "code sessions show", "code sessions delete",
}  # fmt: skip


def run_writer(name: str, root: Path) -> int:
    """The command itself; its exit code."""
    arguments = [text.format(root=root) for text in WRITERS[name]]
    return run_command_line(["-C", str(root), *name.split(), *arguments])


def left_behind(change: Change, folder: Path) -> tuple[Tree, list[Tree], Tree]:
    """The project before, each one that a kill in between can leave, and the one after."""
    root = rebuilt({}, folder / "made")
    change.build(root)
    before, states = saved(root), list[Tree]()

    def look(_: str, __: Path) -> None:
        state = saved(root)
        if not states or _contents(state) != _contents(states[-1]):
            states.append(state)

    with lock_project(root) as held:
        apply_plan(change.plan(Project.load(root)), held, Disk(before=look))
    return before, states, saved(root)


def _contents(tree: Tree) -> dict[str, tuple[str, bytes | str]]:
    return {name: entry[:2] for name, entry in tree.items()}
