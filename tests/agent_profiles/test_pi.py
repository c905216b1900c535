from __future__ import annotations

from pathlib import Path

import pytest

from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.pi import PI
from cub.files.file_tree import DiskTree
from tests.written_files import write_files

NEWEST, BEFORE_WORKTREES, BEFORE_OVERRIDE = (), (0, 74, 2), (0, 83, 0)


def list_loaded(
    root: Path, home: Path, *arguments: str, version: tuple[int, ...] = (), folder: str = ""
) -> list[str]:
    files = make_files(root, home, *arguments, version=version, folder=folder)
    assert PI.reading
    paths = [Path(file.path) for file in PI.reading.list_entries(files)]
    top = root.parent
    return [path.relative_to(top).as_posix() for path in paths if path.is_relative_to(top)]


def make_files(
    root: Path, home: Path, *arguments: str, version: tuple[int, ...] = (), folder: str = ""
) -> AgentFiles:
    return AgentFiles(
        DiskTree(root),
        root.as_posix(),
        folder,
        DiskTree(Path("/")),
        {"HOME": home.as_posix()},
        arguments,
        version,
    )


def write(root: Path, *paths: str) -> None:
    write_files(root, {path: f"This is {path}.\n" for path in paths})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "top/shop"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def home(root: Path) -> Path:
    return root.parent / "home"


@pytest.mark.parametrize(
    ("names", "version", "loaded"),
    [
        (["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"], NEWEST, ["AGENTS.override.md"]),
        (["AGENTS.override.md", "AGENTS.md"], BEFORE_OVERRIDE, ["AGENTS.md"]),
        (["AGENTS.md", "CLAUDE.md"], NEWEST, ["AGENTS.md"]),
        (["CLAUDE.md", "CLAUDE.local.md", ".claude/rules/a.md"], NEWEST, ["CLAUDE.md"]),
        (["src/AGENTS.md", "GEMINI.md"], NEWEST, []),
    ],
)
def test_one_file_of_a_folder_is_loaded(
    root: Path, home: Path, names: list[str], version: tuple[int, ...], loaded: list[str]
) -> None:
    write(root, *names)
    found = list_loaded(root, home, version=version)
    assert found == [f"shop/{name}" for name in loaded]


def test_each_folder_from_the_disk_to_the_start_has_one(root: Path, home: Path) -> None:
    write(root.parent, "AGENTS.md", "shop/CLAUDE.md", "shop/src/AGENTS.md")
    write(home, ".pi/agent/AGENTS.md", ".pi/agent/APPEND_SYSTEM.md")
    assert list_loaded(root, home, folder="src") == [
        "home/.pi/agent/APPEND_SYSTEM.md", "home/.pi/agent/AGENTS.md", "AGENTS.md",
        "shop/CLAUDE.md", "shop/src/AGENTS.md",
    ]  # fmt: skip
    assert list_loaded(root, home, "-nc") == ["home/.pi/agent/APPEND_SYSTEM.md"]


def test_a_projects_system_prompt_is_loaded_once_pi_trusts_it(root: Path, home: Path) -> None:
    write(root, ".pi/SYSTEM.md")
    write(home, ".pi/agent/SYSTEM.md")
    users, projects = "home/.pi/agent/SYSTEM.md", "shop/.pi/SYSTEM.md"
    assert list_loaded(root, home) == [users]
    assert list_loaded(root, home, "--approve") == [projects]
    assert list_loaded(root, home, version=BEFORE_WORKTREES) == [projects]


@pytest.mark.parametrize("is_users", [False, True])
def test_a_worktree_hides_the_file_of_its_checkout_from_newer_versions(
    root: Path, home: Path, is_users: bool
) -> None:
    worktree = root / "worktrees/1"
    write(root, "AGENTS.md")
    write(worktree, "AGENTS.md")
    (worktree / ".git").write_text(f"gitdir: {root.as_posix()}/.git/worktrees/1\n")
    (root / ".git/worktrees/1").mkdir(parents=True)
    own = (worktree / "AGENTS.md").as_posix()
    files = make_files(worktree, home, version=BEFORE_WORKTREES)
    if is_users:
        write(home, ".pi/agent/AGENTS.md")
    assert PI.reading
    assert [one.path for one in PI.reading.list_entries(files)][-2:] == [
        (root / "AGENTS.md").as_posix(), own,
    ]  # fmt: skip
    newest = PI.reading.list_entries(make_files(worktree, home))
    assert [one.path for one in newest][is_users:] == [own]
    # Without the option, the user's own file would be lost.
    given = PI.reading.prevent_load(files, [(root / "AGENTS.md").as_posix()])
    assert given == (None if is_users else ("--no-context-files",))
