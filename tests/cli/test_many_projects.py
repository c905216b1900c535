"""`cub status DIR…` and `cub update --check DIR…`: many projects, one answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.actions.helpers import init
from tests.cli.standing import NEWER, NO_BEGIN, NO_END, stand
from tests.conftest import Cub, git


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Projects side by side, one for each way in which one may stand, to be copied."""
    root = tmp_path_factory.mktemp("many") / "projects"
    for name in ("good", "stale", "edited", "broken", "config", "none", "plain"):
        (root / name).mkdir(parents=True)
        if name != "plain":
            git(root / name, "init", "-q")
        if name != "none":
            (root / name / "AGENTS.md").write_bytes(b"# Theirs\n")
            init(root / name)
    (root / "stale/.cub/map.md").write_text("# Map\n")
    agents = root / "edited/AGENTS.md"
    agents.write_bytes(agents.read_bytes().replace(b"- Claim:", b"- Mine.\n- Claim:"))
    (root / "broken/AGENTS.md").write_bytes(NO_END)
    (root / "config/.cub/config.yaml").write_text("targets: 3\n")
    (root / "good/src").mkdir()
    (root / "file").write_bytes(b"")
    return root


@pytest.fixture
def folder(tmp_path: Path, prepared: Path) -> Path:
    """A copy of `prepared`."""
    root = tmp_path.resolve() / "projects"
    shutil.copytree(prepared, root, symlinks=True)
    return root


def _table(out: str) -> list[list[str]]:
    """The rows of a table in a pipe, cut where its header begins a column."""
    header, *rows = out.splitlines()
    starts = [
        n for n, c in enumerate(header) if c != " " and header[max(0, n - 2) : n] in ("", "  ")
    ]
    ends = [*starts[1:], None]
    return [[row[a:b].strip() for a, b in zip(starts, ends, strict=True)] for row in rows]


def _projects(out: str) -> list[dict[str, Any]]:
    found = json.loads(out)
    assert (found["v"], list(found)) == (1, ["v", "projects"])
    projects: list[dict[str, Any]] = found["projects"]
    return projects


def test_status_of_many_is_one_table(folder: Path, cub: Cub) -> None:
    done = cub("status", "good", "none", "broken", cwd=folder)
    assert (done.code, done.err) == (0, "")
    rows = _table(done.out)
    assert [row[0] for row in rows] == ["good"] * 5 + ["none"] + ["broken"] * 5
    alone = _table(cub("status", cwd=folder / "good").out)
    assert [row[1:] for row in rows[:5]] == alone
    assert rows[5] == ["none", "", "", "no cub yet", "", ""]
    assert rows[6][:4] == ["broken", "AGENTS.md", "you + cub", "broken at line 3"]


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("missing", "error: missing: no such directory"),
        ("file", "error: file: not a directory"),
        ("file/below", "error: file/below: no such directory"),
        ("config", "error: .cub/config.yaml:1:10: targets must be a list of file names"),
    ],
)
@pytest.mark.parametrize("command", ["status", "update --check"])
def test_one_that_can_not_be_looked_at_keeps_nobody_from_the_others(
    folder: Path, cub: Cub, command: str, name: str, state: str
) -> None:
    done = cub(*command.split(), "good", name, "plain", cwd=folder)
    assert (done.code, done.err) == (1, "")
    rows = {row[0]: row for row in _table(done.out)}
    assert list(rows) == ["good", name, "plain"]
    assert state in rows[name]


def test_an_update_is_checked_for_many_in_one_table(folder: Path, cub: Cub) -> None:
    before = stand(folder)
    done = cub(
        "update", "--check", *["good", "stale", "edited", "broken", "none", "plain"], cwd=folder
    )
    assert (done.code, done.err) == (1, "")
    assert _table(done.out) == [
        ["good", "up to date", ""],
        ["stale", "1 would change", "AGENTS.md"],
        [
            "edited",
            "error: AGENTS.md:3: the managed section was edited manually; nothing was written",
            "",
        ],
        ["broken", "error: AGENTS.md:3: BEGIN marker without an END marker", ""],
        ["none", "error: this project has no cub files yet", ""],
        ["plain", "up to date", ""],
    ]
    assert stand(folder) == before


@pytest.mark.parametrize(
    ("names", "code"),
    [("good", 0), ("good plain", 0), ("stale", 1), ("good stale", 1), ("none", 1), ("edited", 1)],
)
def test_the_exit_code_of_a_check_says_whether_all_are_up_to_date(
    folder: Path, cub: Cub, names: str, code: int
) -> None:
    assert cub("update", "--check", *names.split(), cwd=folder).code == code


@pytest.mark.parametrize(
    ("names", "code"), [("good", 0), ("stale edited broken none plain", 0), ("good config", 1)]
)
def test_the_exit_code_of_a_status_says_whether_all_could_be_looked_at(
    folder: Path, cub: Cub, names: str, code: int
) -> None:
    assert cub("status", *names.split(), cwd=folder).code == code


def test_several_faults_of_one_project_are_counted(folder: Path, cub: Cub) -> None:
    (folder / "broken/AGENTS.md").write_bytes(NO_BEGIN)
    (folder / "broken/CLAUDE.md").write_bytes(NEWER)
    (row,) = _table(cub("update", "--check", "broken", cwd=folder).out)
    assert row[1] == "error: AGENTS.md:5: END marker without a BEGIN marker (and 1 more)"


def test_what_becomes_of_edits_decides_whether_a_check_can_be_made(folder: Path, cub: Cub) -> None:
    done = cub("update", "--check", "--edited", "move", "edited", cwd=folder)
    assert done.code == 1
    assert _table(done.out) == [["edited", "1 would change", "AGENTS.md"]]


@pytest.mark.parametrize("command", ["status", "update --check"])
def test_names_are_shown_as_they_were_given_and_once(folder: Path, cub: Cub, command: str) -> None:
    names = ["good", "./good", "good/", "good/src", "../projects/plain", str(folder / "plain")]
    done = cub(*command.split(), *names, cwd=folder)
    assert done.code == 0
    shown = list(dict.fromkeys(row[0] for row in _table(done.out)))
    assert shown == ["good", "good/src", "../projects/plain", (folder / "plain").as_posix()]


def test_names_are_relative_to_the_folder_of_dash_c(folder: Path, cub: Cub) -> None:
    done = cub("-C", "projects/good", "status", "../none", "src", cwd=folder.parent)
    assert {row[0] for row in _table(done.out)} == {"../none", "src"}
    done = cub("-C", "projects", "update", "--check", "good", cwd=folder.parent)
    assert (done.code, _table(done.out)) == (0, [["good", "up to date", ""]])


def test_status_as_json_has_a_table_for_each_project(folder: Path, cub: Cub) -> None:
    names = ["good", "none", "config", "missing"]
    done = cub("status", "--json", *names, cwd=folder)
    assert (done.code, done.err) == (1, "")
    projects = _projects(done.out)
    assert [project["root"] for project in projects] == [(folder / n).as_posix() for n in names]
    good, none, config, missing = projects
    assert good == json.loads(cub("status", "--json", cwd=folder / "good").out)
    assert {row["state"] for row in none["files"]} == {"missing"}
    alone = cub("status", "--json", cwd=folder / "config").out
    assert config == {**json.loads(alone), "root": (folder / "config").as_posix()}
    assert (missing["v"], missing["error"]) == (1, missing["errors"][0])
    assert missing["error"] == {
        "message": "no such directory",
        "where": "missing",
        "hint": "",
        "code": 1,
        "details": [],
    }


def test_a_check_as_json_has_a_plan_for_each_project(folder: Path, cub: Cub) -> None:
    done = cub("update", "--check", "--json", "good", "stale", "edited", cwd=folder)
    assert (done.code, done.err) == (1, "")
    good, stale, edited = _projects(done.out)
    assert good == {"v": 1, "root": (folder / "good").as_posix(), "changes": [], "warnings": []}
    assert stale == json.loads(cub("update", "--json", cwd=folder / "stale").out)
    assert edited["root"] == (folder / "edited").as_posix()
    assert edited["error"]["message"].startswith("the managed section was edited")
    assert edited["error"]["details"]


@pytest.mark.parametrize("options", ["", "--dry-run", "--diff", "--diff --check", "--json"])
def test_several_projects_are_never_written_to(folder: Path, cub: Cub, options: str) -> None:
    before = stand(folder)
    done = cub("update", *options.split(), "stale", "good", cwd=folder)
    assert done.code == 2
    assert "several projects need --check" in done.err
    assert "name one DIR, or use --check" in done.err
    assert stand(folder) == before


def test_one_project_that_is_named_is_refreshed(folder: Path, cub: Cub) -> None:
    there = cub("update", "--diff", cwd=folder / "stale")
    assert cub("-C", str(folder), "update", "--diff", "stale/.cub") == there
    assert there.out.startswith("--- a/AGENTS.md\n")
    done = cub("update", "stale", cwd=folder)
    assert (done.code, done.err) == (0, "Updated 1 file.\n")
    assert cub("update", "--check", cwd=folder / "stale").code == 0
    assert cub("update", "nowhere", cwd=folder).code == 1


def test_dry_run_beside_a_check_changes_nothing(folder: Path, cub: Cub) -> None:
    done = cub("update", "--check", "--dry-run", "stale", cwd=folder)
    assert (done.code, _table(done.out)) == (1, [["stale", "1 would change", "AGENTS.md"]])


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("-C missing status", "no such directory"),
        ("-C missing task list", "no such directory"),
        ("-C missing init", "no such directory"),
        ("-C file/below update", "no such directory"),
        ("-C file init", "not a directory"),
    ],
)
def test_dash_c_to_no_folder_is_one_plain_sentence(
    folder: Path, cub: Cub, command: str, problem: str
) -> None:
    done = cub(*command.split(), cwd=folder)
    assert (done.code, done.err) == (1, f"error: {command.split()[1]}: {problem}\n")


def test_a_link_that_leads_nowhere_or_back_to_itself_is_an_error(folder: Path, cub: Cub) -> None:
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    done = cub("status", "dangling", "loop", "good", cwd=folder)
    assert done.code == 1
    rows = _table(done.out)
    assert rows[0][3] == "error: dangling: no such directory"
    assert rows[1][3].startswith("error: loop: cannot be opened: ")
    assert rows[2][0] == "good"


@pytest.mark.parametrize("command", ["status", "update --check"])
def test_a_folder_that_may_not_be_read_is_an_error_of_its_own(
    folder: Path, unprivileged_cub: Cub, command: str
) -> None:
    closed = folder / "stale"
    closed.chmod(0)
    try:
        done = unprivileged_cub(*command.split(), "stale", "good", cwd=folder)
    finally:
        closed.chmod(0o755)
    assert (done.code, done.err) == (1, "")
    rows = _table(done.out)
    assert any("ermission denied" in cell for cell in rows[0])
    assert rows[-1][0] == "good"


def test_odd_names_keep_the_table_in_shape(folder: Path, cub: Cub) -> None:
    for name in ("a b", "bäckerei", "-x"):
        (folder / name).mkdir()
    done = cub("status", "--", "a b", "bäckerei", "-x", cwd=folder)
    assert done.code == 0
    assert [row[0] for row in _table(done.out)] == ["a b", "bäckerei", "-x"]


@pytest.mark.thorough
def test_two_hundred_projects_are_all_there(folder: Path, cub: Cub) -> None:
    names = [f"p{n}" for n in range(200)]
    for name in names:
        (folder / name).mkdir()
        (folder / name / "AGENTS.md").write_bytes((folder / "good/AGENTS.md").read_bytes())
    done = cub("update", "--check", "--json", *names, cwd=folder)
    assert [project["root"] for project in _projects(done.out)] == [
        (folder / name).as_posix() for name in names
    ]
