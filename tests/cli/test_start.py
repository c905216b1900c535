"""What a start of cub imports: the reason why it is fast, held without a clock."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.command_line import run_program
from tests.conftest import environment

HEAVY = (
    "jinja2", "markdown_it", "ruamel.yaml", "filelock", "packaging", "rich", "tree_sitter",
    "pathspec", "multiprocessing", "difflib", "pydantic", "urllib.request",
)  # fmt: skip


def _imported(code: str, home: Path) -> set[str]:
    script = f"import sys\n{code}\nsys.stderr.write(' '.join(sys.modules))"
    done = run_program([sys.executable, "-c", script], cwd=home, environ=environment(home))
    assert done.code == 0, done.err
    return set(done.err.split())


def test_the_version_is_told_without_typer(home: Path) -> None:
    code = (
        "from cub.__main__ import main\nsys.argv = ['cub', '--version']\n"
        "try: main()\nexcept SystemExit: pass"
    )
    assert not {"typer", "cub.cli", *HEAVY} & _imported(code, home)


def test_looking_at_tasks_needs_nothing_heavy(project: Path, home: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "tasks.jsonl").write_text('{"id":"a","status":"open","priority":1}\n')
    code = (
        "from cub.cli.app import run_command_line as run\n"
        f"assert run(['-C', {str(project)!r}, 'task', 'ready', '--json']) == 0"
    )
    heavy = {*HEAVY, "psutil", "cub.repomap"} - {"difflib"}
    assert not heavy & _imported(code, home)


def test_a_word_is_completed_with_nothing_heavy(project: Path, home: Path) -> None:
    (project / ".cub").mkdir()
    (project / ".cub" / "tasks.jsonl").write_text('{"id":"a","status":"open","priority":1}\n')
    code = (
        "from cub.cli.completion.answer import answer_shell as answer\n"
        f"asked = {{'_TYPER_COMPLETE_ARGS': 'cub -C {project} task show '}}\n"
        "assert answer({'_CUB_COMPLETE': 'complete_zsh', **asked}).count(\"'a'\") == 1"
    )
    heavy = {*HEAVY, "psutil", "cub.repomap"} - {"difflib"}
    assert not heavy & _imported(code, home)


def test_the_command_line_itself_imports_nothing_heavy(home: Path) -> None:
    code = (
        "import cub.cli.app, cub.cli.commands.init, cub.cli.commands.update, cub.cli.commands.map"
    )
    assert not {*HEAVY} - {"difflib"} & _imported(code, home)


def test_a_map_from_the_cache_parses_no_table(project: Path, home: Path) -> None:
    (project / ".cub").mkdir()
    (project / "Makefile").write_text("test:\n\tpytest\n")
    (project / "a.py").write_text("def bake_bread(): pass\n")
    for path in (project, *project.rglob("*")):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    code = (
        "from cub.cli.app import run_command_line as run\n"
        "from cub.repomap.data import load_table\n"
        f"assert run(['-C', {str(project)!r}, 'map']) == 0\n"
        "sys.stderr.write(f'tables={load_table.cache_info().currsize} ')"
    )
    assert "tables=0" not in _imported(code, home)
    assert {"tables=0"} <= _imported(code, home)


def test_a_context_of_plain_rules_needs_nothing_heavy(project: Path, home: Path) -> None:
    (project / "AGENTS.md").write_text("---\nstage: [plan, build]\n---\nBake.\n")
    words = ["-C", str(project), "context", "--prompt", "P", "-s", "stage=plan"]
    code = f"from cub.cli.app import run_command_line as run\nassert run({words!r}) == 0"
    assert not {*HEAVY} - {"difflib"} & _imported(code, home)
