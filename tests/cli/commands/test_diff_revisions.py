"""`cub diff REV` as a process, in every kind of repository; nothing is ever written."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.actions.reviews import MINE
from tests.cli.processes import run_in_shell
from tests.cli.standing import stand
from tests.command_line import call_cub
from tests.conftest import Cub, environment, git
from tests.fork_server import get_cub_command
from tests.git.commits import Files, link, submodule
from tests.git.commits import commit as made

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX pipes and names")


def saved(root: Path) -> str:
    git(root, "-c", "core.autocrlf=false", "add", "-A")
    git(root, "commit", "-qm", "x")
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture(scope="module")
def prepared(
    tmp_path_factory: pytest.TempPathFactory, empty_repository: Path
) -> tuple[Path, dict[str, str]]:
    """A repository to be copied, and four commits of it: a file, `cub init`, a line of a person's,
    a hand in a section.
    """
    folder = tmp_path_factory.mktemp("history")
    root = folder / "project"
    shutil.copytree(empty_repository, root)
    (root / "AGENTS.md").write_bytes(b"# Bakery\n")
    commits = {"bare": saved(root)}
    assert call_cub(["init"], cwd=root, environ=environment(folder)).code == 0
    commits["init"] = saved(root)
    file = root / "AGENTS.md"
    file.write_bytes(b"# Ada's bakery\n" + file.read_bytes().partition(b"\n")[2])
    commits["own"] = saved(root)
    file.write_bytes(file.read_bytes().replace(b"- Claim:", MINE + b"- Claim:"))
    commits["hand"] = saved(root)
    return root, commits


@pytest.fixture
def history(project: Path, prepared: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """The commits of a project: see `prepared`."""
    root, commits = prepared
    shutil.copytree(root, project, symlinks=True, dirs_exist_ok=True)
    git(project, "update-index", "-q", "--refresh")
    return commits


@pytest.mark.parametrize(
    ("revisions", "code", "closing"),
    [
        (
            "{bare}..{init}",
            0,
            "cub's sections: 5 changed, 0 edited manually. Your files: 0 changed.",
        ),
        (
            "{init}..{own}",
            0,
            "cub's sections: 0 changed, 0 edited manually. Your files: 1 changed.",
        ),
        (
            "{own}..{hand}",
            1,
            "cub's sections: 1 changed, 1 edited manually. Your files: 0 changed.",
        ),
        ("{own}", 1, "cub's sections: 1 changed, 1 edited manually. Your files: 0 changed."),
        (
            "{bare}...{hand}",
            1,
            "cub's sections: 5 changed, 1 edited manually. Your files: 1 changed.",
        ),
        (
            "{hand}..{own}",
            0,
            "cub's sections: 1 changed, 0 edited manually. Your files: 0 changed.",
        ),
        ("HEAD..", 0, "No file that cub manages differs between HEAD and HEAD."),
    ],
)
def test_the_exit_code_tells_of_a_hand(
    cub: Cub, history: dict[str, str], revisions: str, code: int, closing: str
) -> None:
    for option in ([], ["--format", "markdown"], ["--json"]):
        result = cub("diff", revisions.format(**history), *option)
        assert result.code == code
        assert result.err.startswith(closing) == (option == [])
    assert json.loads(result.out)["touched"] == bool(code)


def test_a_review_is_on_stdout_and_shows_both_parts(cub: Cub, history: dict[str, str]) -> None:
    result = cub("diff", history["init"])
    assert result.out.splitlines()[0] == "AGENTS.md (update)"
    assert result.out.count("+" + MINE.decode()) == 1
    assert "edited manually: the digest does not match" in result.out
    assert "-# Bakery\n+# Ada's bakery\n" in result.out
    assert "hint:" not in result.err


@pytest.mark.parametrize("option", ["--json", "--format=markdown", "--format=text"])
def test_a_review_writes_nothing(
    project: Path, cub: Cub, history: dict[str, str], option: str
) -> None:
    before = stand(project)
    cub("diff", history["bare"], option)
    assert stand(project) == before


def test_what_lies_uncommitted_plays_no_part(
    project: Path, cub: Cub, history: dict[str, str]
) -> None:
    expected = cub("diff", history["bare"])
    (project / "AGENTS.md").write_bytes(b"<<<<<<< ours\n")
    (project / ".cub" / "config.yaml").write_bytes(b"{")
    (project / "CLAUDE.md").unlink(missing_ok=True)
    assert cub("diff", history["bare"]) == expected


def test_the_json_has_one_shape(project: Path, cub: Cub, history: dict[str, str]) -> None:
    base = history["hand"]
    files: Files = {
        "CLAUDE.md": link("AGENTS.md"),
        ".mcp.json": b"{}\n",
        "caf\udce9/AGENTS.md": b"x",
    }
    head = made(project, files, base, branch="shape")
    found = json.loads(cub("diff", f"{history['own']}..shape", "--json").out)
    assert list(found) == [
        "v", "root", "base", "head", "touched", "files", "executes", "warnings",
    ]  # fmt: skip
    assert (found["v"], found["root"], found["touched"]) == (1, str(project), True)
    assert found["base"] == {"name": history["own"], "commit": history["own"]}
    assert found["head"] == {"name": "shape", "commit": head}
    assert found["warnings"] == []
    by_path = {file["path"]: file for file in found["files"]}
    assert set(by_path) == {"AGENTS.md", "CLAUDE.md", "caf\udce9/AGENTS.md"}
    for file in by_path.values():
        assert list(file) == ["path", "action", "section", "own", "mode"]
        assert list(file["own"]) == ["diff"]
    section = by_path["AGENTS.md"]["section"]
    assert set(section) == {
        "verdict", "before", "after", "line", "diff", "hand", "notes", "whole", "touched",
    }  # fmt: skip
    assert (section["verdict"], section["touched"], section["line"]) == ("edited", True, 3)
    assert section["hand"][-1].startswith(" ")
    assert by_path["CLAUDE.md"]["mode"] == ["new file mode 120000"]
    assert by_path["caf\udce9/AGENTS.md"]["section"] is None
    (change,) = found["executes"]
    assert change == {
        "kind": "agent setting",
        "path": ".mcp.json",
        "diff": ["--- .mcp.json (before)", "+++ .mcp.json (after)", "@@ -0,0 +1 @@", "+{}"],
    }


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("nope", 1, "error: nope: git knows no such commit"),
        ("HEAD~99", 1, "error: HEAD~99: git knows no such commit"),
        ("HEAD..nope", 1, "error: nope: git knows no such commit"),
        ("-- --all", 2, "error: --all: not a valid commit name"),
        ("..", 2, "error: ..: this names no commit"),
    ],
)
@pytest.mark.usefixtures("history")
def test_what_cannot_be_compared_is_an_error(
    cub: Cub, arguments: str, code: int, message: str
) -> None:
    result = cub("diff", *arguments.split())
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(message)


@pytest.mark.usefixtures("history")
def test_an_error_is_json_too(cub: Cub) -> None:
    result = cub("diff", "nope", "--json")
    error = json.loads(result.out)["error"]
    assert (result.code, error["where"], error["code"]) == (1, "nope", 1)
    assert error["hint"]


def test_an_empty_variable_of_a_script_is_a_usage_error(cub: Cub) -> None:
    result = cub("diff", "")
    assert result.code == 2
    assert "this names no commit" in result.err


@posix
def test_names_in_errors_move_no_terminal(cub: Cub, project: Path) -> None:
    made(project, {".cub/config.yaml": b"a: 1\n", "AGENTS.md": b"x"}, branch="main")
    target = "\x1b[31m\u202enowhere"
    evil = {".cub/config.yaml": link(target)}
    made(project, {**evil, ".cub/.gitignore": b"x"}, "main", branch="evil")
    result = cub("diff", "main..\x1b[31mx\ny")
    assert result.err.startswith("error: \\x1b[31mx\\ny: git knows no such commit")
    assert "\x1b" not in cub("diff", "main..evil").out


def test_git_that_is_missing_is_a_known_error(
    cub: Cub, history: dict[str, str], tmp_path: Path
) -> None:
    result = cub("diff", history["bare"], PATH=str(tmp_path))
    assert result.code == 1
    assert result.err.startswith("error: git can't be started: ")
    assert "hint: install git" in result.err


def test_a_folder_outside_git_is_a_known_error(cub: Cub, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    result = cub("diff", "HEAD", cwd=folder)
    assert result.code == 1
    assert "not a git repository" in result.err


def _bare(project: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", "--bare", str(project), "other")
    return tmp_path / "other"


def _bare_inside_another(project: Path, tmp_path: Path) -> Path:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    return _bare(project, outer)


def _without_checkout(project: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", "--no-checkout", str(project), "other")
    return tmp_path / "other"


def _worktree(project: Path, tmp_path: Path) -> Path:
    git(project, "worktree", "add", "-q", "--detach", str(tmp_path / "other"), "HEAD")
    return tmp_path / "other"


def _empty_worktree(project: Path, tmp_path: Path) -> Path:
    git(project, "worktree", "add", "-q", "--no-checkout", str(tmp_path / "other"), "HEAD")
    return tmp_path / "other"


def _submodule(project: Path, tmp_path: Path) -> Path:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    allowed = ("-c", "protocol.file.allow=always")
    git(outer, *allowed, "submodule", "--quiet", "add", str(project), "inner")
    return outer / "inner"


def _alternates(project: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", "--shared", str(project), "other")
    return tmp_path / "other"


def _partial(project: Path, tmp_path: Path) -> Path:
    git(project, "config", "uploadpack.allowFilter", "true")
    address = project.as_uri()
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", address, "other")
    return tmp_path / "other"


def _subfolder(project: Path, _: Path) -> Path:
    (project / "src" / "deep").mkdir(parents=True)
    return project / "src" / "deep"


def _inside_git(project: Path, _: Path) -> Path:
    return project / ".git"


PLACES = [
    _bare, _bare_inside_another, _without_checkout, _worktree, _empty_worktree, _submodule,
    _alternates, _subfolder, _inside_git,
]  # fmt: skip
FAST = (_bare, _empty_worktree, _submodule, _subfolder)


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, id=place.__name__, marks=() if place in FAST else pytest.mark.thorough)
        for place in PLACES
    ],
)
def test_a_review_is_the_same_in_every_kind_of_repository(
    project: Path, cub: Cub, history: dict[str, str], tmp_path: Path, place: object
) -> None:
    folder = place(project, tmp_path)  # type: ignore[operator]
    for base, head in (("bare", "init"), ("init", "own"), ("own", "hand"), ("bare", "hand")):
        revisions = f"{history[base]}..{history[head]}"
        here, there = cub("diff", revisions), cub("-C", str(folder), "diff", revisions)
        assert there == here
        assert here.out


def test_a_shallow_clone_says_how_to_get_the_rest(
    project: Path, cub: Cub, history: dict[str, str], tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", project.as_uri(), "shallow")
    shallow = tmp_path / "shallow"
    assert cub("diff", "HEAD~1", cwd=shallow).code == 1
    for revisions in ("HEAD~2", history["bare"]):
        result = cub("diff", revisions, cwd=shallow)
        assert (result.code, result.out) == (1, "")
        assert "git fetch --unshallow" in result.err


def test_a_partial_clone_is_told_how_to_get_what_it_lacks(
    project: Path, cub: Cub, history: dict[str, str], tmp_path: Path
) -> None:
    """A fetch starts what the repository's configuration names: none is made on the way."""
    clone = _partial(project, tmp_path)
    result = cub("diff", history["own"], cwd=clone)
    assert (result.code, result.out) == (1, "")
    assert "hint: this clone is partial or damaged" in result.err
    assert "protocol" not in result.err
    git(clone, "fetch", "-q", "--refetch", "--no-filter")
    assert cub("diff", history["own"], cwd=clone) == cub("diff", history["own"])


def test_a_repository_of_sha256_is_read(tmp_path: Path, cub: Cub) -> None:
    root = tmp_path / "sha256"
    root.mkdir()
    git(root, "init", "-q", "--object-format=sha256")
    (root / "AGENTS.md").write_bytes(b"# Bakery\n")
    saved(root)
    cub("init", cwd=root)
    saved(root)
    result = cub("diff", "HEAD~1", cwd=root)
    assert result.code == 0
    assert result.err.startswith("cub's sections: 5 changed, 0 edited manually.")


def test_a_project_in_a_subfolder_is_its_own(project: Path, cub: Cub) -> None:
    inner = project / "packages" / "api"
    (inner / ".cub").mkdir(parents=True)
    (project / "AGENTS.md").write_bytes(b"x\n")
    (inner / "AGENTS.md").write_bytes(b"# Ovens\n")
    (inner / ".cub" / "config.yaml").write_bytes(b"schema: 1\n")
    saved(project)
    assert cub("init", cwd=inner).code == 0
    (project / "AGENTS.md").write_bytes(b"y\n")
    saved(project)
    inside = json.loads(cub("diff", "HEAD~1", "--json", cwd=inner).out)
    assert {file["path"] for file in inside["files"]} >= {"AGENTS.md", ".cub/runloop.md"}
    assert {file["section"]["verdict"] for file in inside["files"]} == {"verified"}
    outside = cub("diff", "HEAD~1", cwd=project)
    assert outside.code == 0
    assert "packages/api/AGENTS.md (update)" in outside.out
    assert "edited manually:" not in outside.out


@posix
def test_a_hook_of_git_s_may_ask(project: Path, cub: Cub, history: dict[str, str]) -> None:
    inner = project / "packages" / "api" / ".cub"
    inner.mkdir(parents=True)
    plain = cub("diff", history["own"])
    assert plain.out
    assert cub("diff", history["own"], GIT_DIR=".git") == plain
    assert cub("-C", "packages/api", "diff", history["own"], GIT_DIR=".git").code == 0
    bare = project / ".git"
    assert cub("diff", history["own"], cwd=bare, GIT_DIR=str(bare)).err == plain.err


def test_submodules_in_the_change_are_no_error(project: Path, cub: Cub) -> None:
    base = made(project, {"AGENTS.md": b"x\n", "vendor/lib": submodule()})
    files = {"vendor/lib": submodule("2" * 40), ".claude/skills": submodule()}
    head = made(project, files, base)
    result = cub("diff", f"{base}..{head}")
    assert result.code == 0
    assert result.out.splitlines()[:3] == [
        "Executable configuration changed:",
        "! agent file: .claude/skills",
        "new file mode 160000",
    ]


@pytest.mark.parametrize("stale", [True, False])
def test_without_a_commit_it_is_what_update_would_change(
    project: Path, cub: Cub, history: dict[str, str], stale: bool
) -> None:
    git(project, "checkout", "-q", history["own"])
    if stale:
        (project / ".cub" / "runloop.md").unlink()
    before = stand(project)
    assert cub("diff") == cub("update", "--diff")
    assert cub("diff", "--json") == cub("update", "--json")
    comment = cub("diff", "--format", "markdown")
    assert comment.code == 0
    assert ("already up to date" in comment.out) != stale
    assert ("- create `.cub/runloop.md`: install" in comment.out) == stale
    assert stand(project) == before


@pytest.mark.usefixtures("history")
def test_without_a_commit_an_edited_section_is_an_error_as_for_update(cub: Cub) -> None:
    for option in ("--json", "--format=text", "--format=markdown"):
        result = cub("diff", option)
        assert result.code == 1
        assert "the managed section was edited manually" in result.err


@posix
@pytest.mark.parametrize("option", ["--json", "--format=text", "--format=markdown"])
def test_a_reader_that_is_gone_gets_no_traceback(project: Path, home: Path, option: str) -> None:
    base = made(project, {"AGENTS.md": b"x\n" * 30_000})
    made(project, {"AGENTS.md": b"y\n" * 30_000}, base)
    done = run_in_shell(f"diff {base} {option} | head -n 1", project, home, get_cub_command())
    assert (len(done.out.splitlines()), done.err) == (1, "")
