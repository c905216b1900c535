from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_task_changes import CREATED
from tests.conftest import Cub
from tests.docs.test_json_reference import example

STORIES = {
    "project": "The bakery",
    "userStories": [
        {"id": "US-001", "title": "Order bread", "priority": 1, "passes": True},
        {"id": "US-002", "title": "Bring it", "priority": 2, "passes": False},
    ],
}


@pytest.fixture
def prd(project: Path) -> Path:
    path = project / "prd.json"
    path.write_text(json.dumps(STORIES))
    return path


def test_stories_come_in_and_tasks_go_out(cub: Cub, project: Path, prd: Path) -> None:
    done = cub("task", "import", "prd.json")
    assert (done.code, done.out) == (0, "new     US-001: Order bread\nnew     US-002: Bring it\n")
    assert done.err == f"prd: 2 new, 0 changed, 0 as they were.\n{CREATED}"
    assert cub("task", "close", "US-002").code == 0
    out = cub("task", "export", "--format", "markdown", "--output", "out.md")
    assert (out.code, out.out, out.err) == (0, "", "Wrote out.md.\n")
    assert "# Bring it (US-002)\n\n- Status: closed (done)\n" in (project / "out.md").read_text()
    again = cub("task", "import", "prd.json")
    assert again.err == "prd: 0 new, 0 changed, 2 as they were.\n"
    assert prd.exists()


def test_files_are_those_of_the_folder_that_dash_c_names(
    cub: Cub, project: Path, prd: Path, tmp_path: Path
) -> None:
    done = cub("-C", "project", "task", "import", prd.name, cwd=tmp_path)
    assert (done.code, len(done.out.splitlines())) == (0, 2)
    out = ("task", "export", "--output", "out.jsonl")
    assert cub("-C", "project", *out, cwd=tmp_path).code == 0
    assert len((project / "out.jsonl").read_text().splitlines()) == 2
    assert not (tmp_path / "out.jsonl").exists()


def test_stdin_and_stdout(cub: Cub) -> None:
    done = cub("task", "import", "-", stdin='{"id":"a","title":"A","dependsOn":["zz"]}\n')
    assert (done.code, done.out) == (0, "new     a: A\n")
    assert "a depends on zz, which does not exist" in done.err
    out = cub("task", "export")
    assert json.loads(out.out) == {
        "id": "a",
        "title": "A",
        "status": "open",
        "depends_on": ["zz"],
    }


def test_the_shape_of_an_import(cub: Cub, prd: Path) -> None:
    shown = example("An import")
    first = json.dumps({**STORIES, "userStories": STORIES["userStories"][:1]})
    assert cub("task", "import", "-", stdin=first).code == 0
    tree = json.loads(cub("task", "import", prd.name, "--json").out)
    assert tree == {**shown, "root": tree["root"]}


def test_a_dry_run_leaves_no_trace(cub: Cub, project: Path, prd: Path) -> None:
    done = cub("task", "import", "prd.json", "--dry-run", "--json")
    tree = json.loads(done.out)
    assert (tree["format"], tree["added"], tree["changed"]) == ("prd", ["US-001", "US-002"], [])
    assert sorted(path.name for path in project.iterdir()) == [".git", prd.name]


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        ('{"userStories": [', (), "stdin:1:18: invalid JSON: a value is missing"),
        ('{"userStories": [3]}', (), "stdin: entry 1 of userStories is not an object"),
        ('{"tasks": [{"title": "x"}]}', (), "stdin: a task has no id"),
        ('{"id":"a"}\n{"id":\n', (), "stdin:2: invalid JSON: a value is missing, column 7"),
        ("\xff\n", (), "stdin:1"),
        ("bread\n", (), "stdin:1:1: invalid JSON"),
        ('{"bread": 1}', (), "stdin: unknown format"),
        ('{"bread": 1}', ("-f", "prd"), "stdin: not a prd document"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(
    cub: Cub, project: Path, data: str, options: tuple[str, ...], said: str
) -> None:
    done = cub("task", "import", "-", *options, stdin=data)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {said}")
    assert "hint: " in done.err
    assert not (project / ".cub").exists()


def test_a_format_or_a_file_that_is_not_there(cub: Cub) -> None:
    done = cub("task", "import", "-", "-f", "jira", stdin="{}")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: no format 'jira'")
    out = cub("task", "export", "-f", "beads")
    assert (out.code, out.err) == (
        2,
        "error: no format 'beads'\nhint: there are: jsonl, markdown\n",
    )
    missing = cub("task", "import", "nope.json")
    assert (missing.code, missing.err) == (2, "error: nope.json: no such file\n")


def test_an_empty_file_is_nothing_to_do(cub: Cub, project: Path) -> None:
    done = cub("task", "import", "-", stdin="")
    assert (done.code, done.err) == (0, "jsonl: 0 new, 0 changed, 0 as they were.\n")
    assert not (project / ".cub" / "tasks.jsonl").exists()
