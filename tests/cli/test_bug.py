from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.command_line import run_program
from tests.conftest import environment
from tests.fork_server import ForkServer

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command of a cub with a fault in it: a template that is none."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("cub", "templates"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    for file in (folder / "templates" / "sections").glob("*/agents.md.j2"):
        file.write_text("{% no such thing %}", encoding="utf-8")
    with closing(ForkServer(code=folder)) as server:
        yield server.command


@pytest.mark.parametrize("as_json", [False, True])
def test_a_bug_is_3_and_leaves_its_traceback_in_a_file(
    project: Path, home: Path, faulty: list[str], as_json: bool
) -> None:
    (project / "AGENTS.md").write_bytes(b"mine")
    words = [*faulty, "init", *(["--json"] if as_json else [])]
    done = run_program(words, cwd=project, environ=environment(home))
    assert done.code == 3
    assert "Traceback" not in done.err
    last = done.err.splitlines()[-1]
    assert "error: TemplateSyntaxError: " in done.err
    assert last.startswith("this is a bug in cub; its traceback is in ")
    log = Path(last.removeprefix("this is a bug in cub; its traceback is in "))
    assert "Traceback (most recent call last):" in log.read_text(encoding="utf-8")
    assert ('"code": 3' in done.out) == as_json
    assert [path.name for path in sorted(project.iterdir())] == [".git", "AGENTS.md"]
