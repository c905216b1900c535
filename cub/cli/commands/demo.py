"""Show what cub does on a scratch repository, without a key or a server.

The first part is the life of a managed section. In the second one, cub's own agent works on a task
with a scripted model: it breaks a test, gets the failure in its prompt, and repairs it.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.cli import output
from cub.cli.commands import init, remove, update
from cub.cli.commands.run.execute import execute_run
from cub.cli.options import EditedPolicyChoice
from cub.cli.plan_command import PlanDisplay, run_plan_command

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores
    from cub.edit.plan import Plan
    from cub.project.project import Project


app = typer.Typer(add_completion=False)

Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the scratch directory, and print its path.")
]


@app.command()
def demo(keep: Keep = False) -> None:
    """Play a run and an AGENTS.md edit in a scratch repository.

    The model of the run plays a script, and needs no key.

    Example: cub demo
    """
    folder = Path(tempfile.mkdtemp(prefix="cub-demo-")).resolve()
    try:
        show_section_demo(folder)
        show_run_demo(folder)
    finally:
        if keep:
            output.print_message(f"The scratch repository is in {folder.as_posix()}")
        else:
            shutil.rmtree(folder)


# A person's file: with CRLF, trailing whitespace and no trailing newline, to be kept as it is.
_PERSONS_TEXT = (
    b"# Bakery\r\n\r\nBread is counted in dozens.  \r\n\r\n- Run `make test` before a commit"
)
_BULLET = "- Claim: `cub task claim ID`"
_ADDED = b"- Ask Ada before you touch the oven.\r\n"


def show_section_demo(root: Path) -> None:
    """Run init, update after a manual edit, and remove, in a folder that has an AGENTS.md."""
    from cub.actions.init_update import plan_init

    agents = root / "AGENTS.md"
    agents.write_bytes(_PERSONS_TEXT)
    output.print_heading(
        "A repository with an AGENTS.md of its own: Windows line ends, no last one."
    )
    _run_step(root, "cub init --diff", plan_init, PlanDisplay(diff=True), only="AGENTS.md")
    init.print_result(_run_step(root, "cub init", plan_init), root)
    output.print_line()
    output.print_heading("Now a person writes a line into cub's section, by mistake.")
    agents.write_bytes(agents.read_bytes().replace(_BULLET.encode(), _ADDED + _BULLET.encode()))
    _show_refusal(root)
    moved = _run_step(
        root,
        "cub update --edited move",
        lambda p: update.make_update_plan(p, EditedPolicyChoice.MOVE),
    )
    update.print_result(moved, PlanDisplay())
    _run_step(root, "cub remove", remove.make_remove_plan)
    remove.print_result(root)
    _verify_text(agents.read_bytes())


def _run_step(
    root: Path,
    command: str,
    make_plan: Callable[[Project], Plan],
    show: PlanDisplay | None = None,
    only: str = "",
) -> Plan:
    output.print_line()
    output.print_heading(f"$ {command}")
    return run_plan_command(
        root, lambda project: _select_edits(make_plan(project), only), show or PlanDisplay()
    )


def _select_edits(plan: Plan, path: str) -> Plan:
    """Return the part of a plan that is about `path`; all of it for ""."""
    from dataclasses import replace

    return replace(plan, edits=tuple(e for e in plan.edits if path in ("", e.path)))


def _show_refusal(root: Path) -> None:
    from cub.errors import CubError

    try:
        _run_step(root, "cub update", update.make_update_plan)
    except CubError as error:
        output.print_error(error)


def _verify_text(data: bytes) -> None:
    """Check and show that the person's text is there, byte for byte."""
    from cub.errors import InternalError

    between = data.removeprefix(_PERSONS_TEXT).removesuffix(_ADDED)
    if data != _PERSONS_TEXT + between + _ADDED or between.strip():
        raise InternalError("the demo's AGENTS.md did not come back", where="AGENTS.md")
    count = f"all {len(_PERSONS_TEXT)} bytes that were there before cub"
    output.print_line()
    output.print_heading(f"AGENTS.md has {count}, and the line that was written since:")
    for line in data.decode().splitlines():
        output.print_line(f"  {line}".rstrip())


_CHECK = "python -m unittest -q"
_TITLE = "Prices with tax"
_NET = "def net(cents):\n    return cents\n"
_TEST = """\
import unittest

import price


class Prices(unittest.TestCase):
    def test_{name}(self):
        self.assertEqual(price.{name}(100), {cents})
"""
_GROSS_TEST = _TEST.format(name="gross", cents=119)
_WRONG = "\n\ndef gross(cents):\n    return cents * 1.9\n"
_RIGHT = "\n\ndef gross(cents):\n    return cents * 119 // 100\n"
_SCRIPT = "replies.yaml"
_MODEL = f"scripted/.cub/{_SCRIPT}"
_FILES = {
    "price.py": _NET,
    "test_net.py": _TEST.format(name="net", cents=100),
    ".gitignore": "__pycache__/\n",
}
_GIT = (
    ("init", "-q", "-b", "main"),
    # Don't use the person's signing and hooks in a scratch repository.
    ("config", "user.name", "cub demo"),
    ("config", "user.email", "demo@localhost"),
    ("config", "commit.gpgsign", "false"),
    ("config", "core.hooksPath", ".git/hooks"),
    ("add", "-A"),
    ("commit", "-q", "-m", "A shop with a test"),
)


def show_run_demo(root: Path) -> None:
    """Run two attempts: the first one breaks a test, and the second one repairs it."""
    if os.name != "posix" or shutil.which("git") is None:
        output.print_message("The second part, `cub run`, needs git, and Linux or macOS.")
        return
    output.print_line()
    output.print_heading(
        "Now a run. cub's own agent has a scripted model, which gets it wrong at first."
    )
    for name, text in _FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    for words in _GIT:
        _git(root, *words)
    task_id = _add_task(root)
    _write_script(root)
    output.print_line()
    output.print_heading(f"$ cub run --harness builtin --model {_MODEL}")
    _run_tasks(root)
    _show_retry_prompt(root, task_id)
    output.print_line()
    output.print_heading("$ git log --oneline")
    for line in _git(root, "log", "--oneline").splitlines():
        output.print_line(line)
    _verify_run(root, task_id)


def _add_task(root: Path) -> str:
    from cub.actions.tasks.task_edits import add_task
    from cub.actions.tasks.task_fields import TaskFields

    output.print_line()
    output.print_heading(f'$ cub task add "{_TITLE}" --check "{_CHECK}"')
    result = add_task(_open_stores(root), TaskFields(_TITLE, checks=[_CHECK]))
    task_id = str(result.tasks[0]["id"])
    output.print_line(task_id)
    return task_id


def _write_script(root: Path) -> None:
    """Write what the model replies: in a retry it reads the file first, and gets it right."""
    look = {"text": "I look first.", "calls": [{"Read": {"file_path": "price.py"}}]}
    test = {"Write": {"file_path": "test_gross.py", "content": _GROSS_TEST}}
    conversations = [
        {"when": "## PREVIOUS ATTEMPT", "replies": [look, _edit(_RIGHT, test), _finish("mended")]},
        {"replies": [look, _edit(_WRONG, test), _finish("added")]},
    ]
    text = json.dumps({"conversations": conversations}, indent=1)  # JSON is YAML
    (root / ".cub" / _SCRIPT).write_text(text, encoding="utf-8")


def _edit(function: str, *others: dict[str, Any]) -> dict[str, Any]:
    """Return a reply that adds a function, and a test for it."""
    change = {"file_path": "price.py", "old_string": _NET, "new_string": _NET + function}
    return {"text": "I add gross().", "calls": [{"Edit": change}, *others]}


def _finish(verb: str) -> dict[str, Any]:
    return {"text": f"Status: done\nSummary: {verb} gross()"}


def _run_tasks(root: Path) -> None:
    from cub.actions.run.run_options import RunOptions

    # Make the check find this Python, and the agent this cub.
    package_folder = Path(__file__).parents[3].as_posix()
    path = os.pathsep.join([Path(sys.executable).parent.as_posix(), os.environ.get("PATH", "")])
    python_path = filter(None, [package_folder, os.environ.get("PYTHONPATH")])
    environ = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(python_path)}
    options = RunOptions(harness="builtin", model=_MODEL, trust=True)
    execute_run(_open_stores(root), options, None, json=False, environ=environ)


def _show_retry_prompt(root: Path, task_id: str) -> None:
    """Show that the second prompt names the failing test."""
    output.print_line()
    output.print_heading("The prompt of the second attempt says why the first one failed:")
    (prompt,) = (root / ".cub" / "runs").glob(f"*/{task_id}/2/prompt.md")
    _, _, section = prompt.read_text(encoding="utf-8").partition("## PREVIOUS ATTEMPT\n\n")
    for line in section.partition("\n## ")[0].rstrip().splitlines():
        output.print_line(f"  {line}".rstrip())


def _verify_run(root: Path, task_id: str) -> None:
    """Check that one commit closed the task, and that nothing of the first attempt is left."""
    from cub.errors import InternalError

    is_done = _open_stores(root).backend.read_tasks()[task_id].is_done
    commits = _git(root, "log", "--format=%s").count(_TITLE)
    text = (root / "price.py").read_text(encoding="utf-8")
    if not is_done or commits != 1 or text != _NET + _RIGHT:
        raise InternalError("the demo's task did not end as it should", where=task_id)
    output.print_line()
    output.print_heading(
        "The task is closed, with one commit; of the first attempt, a patch is left."
    )


def _open_stores(root: Path) -> Stores:
    from cub.actions.tasks.stores import open_stores
    from cub.project.project import Project

    return open_stores(Project.load(root), "cub demo")


def _git(root: Path, *words: str) -> str:
    from cub.git.process import run_git

    return run_git(root, *words).decode("utf-8", "replace")
