"""`cub task edit` in an editor, for which small scripts stand in."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.tasks import add
from tests.cli.terminal import in_terminal
from tests.command_line import Result
from tests.conftest import Cub, tree
from tests.fork_server import get_cub_command

Edit = Callable[..., Result]


@pytest.fixture
def edit(cub: Cub, tmp_path: Path) -> Edit:
    """Run `cub task edit`, with Python code as the editor; `path` and `text` are the form's."""
    folder = tmp_path / "forms"
    folder.mkdir()

    def run(key: str, code: str, *arguments: str, cwd: Path = tmp_path / "project") -> Result:
        script = tmp_path / "editor.py"
        lines = ("import pathlib, sys", "path = pathlib.Path(sys.argv[-1])",
                 "text = path.read_text(encoding='utf-8')")  # fmt: skip
        script.write_text("\n".join((*lines, code, "")))
        editor = shlex.join([sys.executable, str(script), "--wait"])
        return cub("task", "edit", key, *arguments, cwd=cwd, EDITOR=editor, TMPDIR=str(folder))

    return run


def forms(project: Path) -> list[Path]:
    """The forms that were left."""
    return [*(project.parent / "forms").iterdir()]


def replacing(old: str, new: str) -> str:
    return f"path.write_text(text.replace({old!r}, {new!r}), encoding='utf-8')"


def test_what_is_saved_is_what_the_task_says(cub: Cub, edit: Edit, project: Path) -> None:
    key = add(cub)
    done = edit(key[-5:], replacing("title: Bake", "title: Roast é"))
    assert (done.code, done.out, done.err) == (0, f"Changed {key}: Roast é\n", "")
    assert forms(project) == []
    done = edit(key, replacing("description:", "description: |\n  One\n\n  two"), "--json")
    assert (done.code, forms(project)) == (0, [])
    assert '"description": "One\\n\\ntwo"' in done.out


@pytest.mark.parametrize("code", ["", "path.write_text(text)", "path.write_text('# x\\n' + text)"])
def test_what_is_left_as_it_is_changes_nothing(
    cub: Cub, edit: Edit, project: Path, code: str
) -> None:
    key = add(cub)
    before = tree(project)
    done = edit(key, code)
    assert (done.code, done.out) == (0, f"No change to {key}.\n")
    assert (tree(project), forms(project)) == (before, [])


WRONG = [
    (replacing("title: Bake", "title: [Bake"), 1, r"error: PATH:\d+:\d+: "),
    (replacing("title: Bake", "titel: Bake"), 1, "error: PATH:3:1: unknown field 'titel'"),
    (replacing("title: Bake", "title:"), 2, "error: the title is empty"),
    (replacing("priority: 2", "priority: P7"), 2, "error: unknown priority 'P7'"),
    (replacing("depends_on: []", "depends_on: [zzz]"), 1, "error: there is no task 'zzz'"),
    ("path.write_bytes(b'title: \\xff\\n')", 1, "error: PATH:1:8: byte 0xff is not UTF-8"),
    ("path.write_text('')", 1, "error: PATH: not a valid task form"),
    (
        "path.write_text(text + '# mine')\nsys.exit(3)",
        1,
        "error: the editor exited with code 3, so nothing",
    ),
]


@pytest.mark.parametrize(("code", "exit_code", "message"), WRONG)
def test_a_wrong_form_is_kept_and_its_path_is_told(
    cub: Cub, edit: Edit, project: Path, code: str, exit_code: int, message: str
) -> None:
    key = add(cub)
    before = tree(project)
    done = edit(key, code)
    assert (done.code, done.out, tree(project)) == (exit_code, "", before)
    (form,) = forms(project)
    assert re.match(message.replace("PATH", re.escape(form.as_posix())), done.err), done.err
    assert f"  your text is saved in {form.as_posix()}\n" in done.err


def test_an_editor_that_fails_without_a_change_leaves_nothing(
    cub: Cub, edit: Edit, project: Path
) -> None:
    key = add(cub)
    done = edit(key, "sys.exit(1)")
    assert (done.code, done.err) == (
        1,
        "error: the editor exited with code 1, so nothing was changed\n",
    )
    gone = edit(key, "path.unlink()")
    assert (gone.code, gone.err) == (1, "error: the editor left no file, so nothing was changed\n")
    assert forms(project) == []


@pytest.mark.parametrize(
    ("editor", "message"),
    [
        ("no-such-editor -w", "cannot start the editor: no-such-editor\nhint: set EDITOR\n"),
        ('vi "', 'vi ": EDITOR is not a command: a closing quote is missing\nhint: set EDITOR\n'),
    ],
)
def test_an_editor_that_is_none_is_told(cub: Cub, editor: str, message: str) -> None:
    done = cub("task", "edit", add(cub), EDITOR=editor)
    assert (done.code, done.err) == (1, f"error: {message}")


def test_what_happens_meanwhile_stays(cub: Cub, edit: Edit, project: Path) -> None:
    key = add(cub)
    close = [*get_cub_command(), "task", "close", key]
    code = f"import subprocess\nsubprocess.run({close!r}, check=True, stdout=2)\n"
    done = edit(key, code + replacing("title: Bake", "title: Roast"), cwd=project)
    assert (done.code, done.out) == (0, f"Changed {key}: Roast\n")
    assert "closed  Roast" in cub("task", "list", "--status", "all").out


def test_in_a_terminal_the_editor_has_it(cub: Cub, project: Path, home: Path) -> None:
    key = add(cub)
    script = home / "editor.sh"
    script.write_text('#!/bin/sh\nread word\nsed -i "s/^title: .*/title: $word/" "$1"\n')
    script.chmod(0o755)
    screen = in_terminal(
        "task", "edit", key, cwd=project, home=home, answer="Typed\n", VISUAL=str(script)
    )
    assert screen.code == 0
    assert screen.text.endswith(f"Changed {key}: Typed\n")
