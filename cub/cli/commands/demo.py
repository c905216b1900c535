"""Show what cub does in a scratch repository, without a key or a server.

cub's own agent works on a task with a scripted model: it breaks a test, gets the failure in its
prompt, and fixes it. `--sections` plays the life of a managed section instead.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import cub
from cub.cli import output
from cub.cli.parameters import make_option
from cub.cli.stop_signals import handle_stop_signals, ignore_stop_signals
from cub.errors import CubError
from cub.processes.command import StopRequest
from cub.project.project import Project

if TYPE_CHECKING:
    from cub.actions.tasks.stores import Stores


app = typer.Typer(add_completion=False)

Sections = Annotated[
    bool, make_option("--sections", "Play the edits of an AGENTS.md instead of a run.")
]
Keep = Annotated[bool, make_option("--keep", "Keep the scratch repository, and print its path.")]

_NAME = "shop"


@app.command()
def demo(sections: Sections = False, keep: Keep = False) -> None:
    """Play a run, or an AGENTS.md edit, in a scratch repository.

    An agent with a scripted model breaks a test, and fixes it in a second attempt. The demo needs
    no key and no network. It changes nothing outside a temporary directory.

    Example: cub demo --keep
    """
    with (
        handle_stop_signals("") as stop,
        stop.notify(_interrupt),
        _make_scratch_repository(keep=keep) as root,
    ):
        if not sections and _can_run():
            show_run_demo(root, stop)
        else:
            from cub.cli.section_demo import show_section_demo

            show_section_demo(root)


def _can_run() -> bool:
    """Return whether `cub run` works on this machine; say so if it doesn't."""
    if os.name == "posix" and shutil.which("git"):
        return True
    missing = "install git" if os.name == "posix" else "use Linux, macOS, or WSL"
    output.print_message(f"`cub run` is not available here: {missing} to see the demo of a run.")
    output.print_message("This is `cub demo --sections`:")
    output.print_line()
    return False


@contextmanager
def _make_scratch_repository(*, keep: bool) -> Iterator[Path]:
    """Yield an empty directory; delete it at the end, after a signal as well."""
    folder = Path(tempfile.mkdtemp(prefix="cub-demo-")).resolve()
    root = folder / _NAME
    try:
        root.mkdir()
        _isolate_environment(folder)
        yield root
    finally:
        with ignore_stop_signals():
            if keep:
                _print_location(root)
            else:
                _delete(folder)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _isolate_environment(folder: Path) -> None:
    """Keep the user's settings out of the demo, and the demo's state out of the user's.

    Nothing restores the environment: the process ends with the demo.
    """
    for name in [*os.environ]:
        if name.startswith("GIT_") and name != "GIT_EXEC_PATH":
            del os.environ[name]
    os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for kind in ("CACHE", "CONFIG", "STATE"):
        os.environ[f"XDG_{kind}_HOME"] = (folder / kind.lower()).as_posix()


def _print_location(root: Path) -> None:
    output.print_step(f"The scratch repository is in {root.as_posix()}")
    look = "git log --stat" if (root / ".git").exists() else "cat AGENTS.md"
    output.print_line(f"  Look at it:  cd {shlex.quote(root.as_posix())} && {look}")
    output.print_line(f"  Delete it:   rm -rf {shlex.quote(root.parent.as_posix())}")


def _delete(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        output.print_message(f"Could not delete {folder.as_posix()}; delete it yourself.")


_CHECK = "python3 -m unittest -q"
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
_MODEL = f"scripted/{_SCRIPT}"
_FILES = {
    "price.py": _NET,
    "test_net.py": _TEST.format(name="net", cents=100),
    ".gitignore": "__pycache__/\n",
}
_GIT = (
    ("init", "-q", "-b", "main"),
    # An older git ignores GIT_CONFIG_GLOBAL: turn the user's signing and hooks off here as well.
    ("config", "user.name", "cub demo"),
    ("config", "user.email", "demo@localhost"),
    ("config", "commit.gpgsign", "false"),
    ("config", "core.hooksPath", os.devnull),
    ("add", "-A"),
    ("commit", "-q", "-m", "A shop with a test"),
)


def show_run_demo(root: Path, stop: StopRequest) -> None:
    """Run two attempts: the first one breaks a test, and the second one fixes it."""
    from cub.git.process import run_git

    output.print_heading("A repository with a passing test, and a task for cub's own agent.")
    output.print_heading("A script plays the model. Its first answer is wrong.")
    for name, text in _FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    _write_script(root)  # an attempt has only what is committed
    for words in _GIT:
        run_git(root, *words)
    task_id = _add_task(root)
    output.print_step(f"$ cub run --harness builtin --model {_MODEL}")
    code = _run_tasks(root)
    if stop.is_requested:  # the run has handled the signal
        raise KeyboardInterrupt
    if code:
        hint = "run `cub demo --keep` and look into .cub/runs of the scratch repository"
        raise CubError("the demo's run did not close its task", hint=hint)
    _show_retry_prompt(root, task_id)
    output.print_step("The task is closed with one commit. The failed attempt is kept as a patch.")
    output.print_line("Next, in your own repository:  cub init")


def _add_task(root: Path) -> str:
    from cub.actions.tasks.task_edits import add_task
    from cub.actions.tasks.task_fields import TaskFields

    output.print_step(f'$ cub task add "{_TITLE}" --check "{_CHECK}"')
    result = add_task(_open_stores(root), TaskFields(_TITLE, checks=[_CHECK]))
    task_id = str(result.tasks[0]["id"])
    output.print_line(task_id)
    return task_id


def _write_script(root: Path) -> None:
    """Write the model's replies: a wrong change, and a right one in the retry."""
    look = {"text": "I read the file first.", "calls": [{"Read": {"file_path": "price.py"}}]}
    test = {"Write": {"file_path": "test_gross.py", "content": _GROSS_TEST}}
    conversations = [
        {"when": "## PREVIOUS ATTEMPT", "replies": [look, _edit(_RIGHT, test), _finish("fixed")]},
        {"replies": [look, _edit(_WRONG, test), _finish("added")]},
    ]
    text = json.dumps({"conversations": conversations}, indent=1)  # JSON is YAML
    (root / _SCRIPT).write_text(text, encoding="utf-8")


def _edit(function: str, *others: dict[str, Any]) -> dict[str, Any]:
    change = {"file_path": "price.py", "old_string": _NET, "new_string": _NET + function}
    return {"text": "I add gross().", "calls": [{"Edit": change}, *others]}


def _finish(verb: str) -> dict[str, Any]:
    return {"text": f"Status: done\nSummary: {verb} gross()"}


def _run_tasks(root: Path) -> int:
    from cub.actions.command_options import RunOptions
    from cub.cli.commands.run.execute import execute_run

    # Make the check find this Python, and the agent this cub.
    package_parent = Path(cub.__file__).parents[1].as_posix()
    path = os.pathsep.join([Path(sys.executable).parent.as_posix(), os.environ.get("PATH", "")])
    python_path = filter(None, [package_parent, os.environ.get("PYTHONPATH")])
    environ = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(python_path)}
    options = RunOptions(harness="builtin", model=_MODEL, trust=True)
    return execute_run(_open_stores(root), options, json=False, environ=environ)


def _show_retry_prompt(root: Path, task_id: str) -> None:
    output.print_step("The prompt of the second attempt contains the failure of the first one:")
    (prompt,) = (root / ".cub" / "runs").glob(f"*/{task_id}/2/prompt.md")
    _, _, section = prompt.read_text(encoding="utf-8").partition("## PREVIOUS ATTEMPT\n\n")
    for line in section.partition("\n## ")[0].rstrip().splitlines():
        output.print_paragraph(f"  {line}".rstrip())


def _open_stores(root: Path) -> Stores:
    from cub.actions.tasks.stores import open_stores

    return open_stores(Project.load(root), "cub demo")
