"""What a place has of the files that git ignores, and where its commands find modules."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.linked_dependencies import find_links_to_checkout
from cub.place.place import Place
from cub.place.place_settings import PlaceSettings
from cub.place.shared_files import choose_ignored_files
from cub.place.walls import PlaceKind
from cub.processes.command import make_shell_command
from tests.conftest import git
from tests.place.places import ASIDE, commit_files, read_base
from tests.written_files import write_files

_BOUND = PlaceKind("bound", "bwrap", "")
_FILES = {
    ".gitignore": "node_modules\n.env\n.venv\n*.so\n",
    ".worktreeinclude": ".env\n",
    "src/a.py": "",
    "packages/oven/index.js": "",
}
_IGNORED = {
    ".env": "SECRET=1\n",
    "src/a.so": "",
    "node_modules/semver/index.js": "",
    ".venv/pyvenv.cfg": "",
    ".venv/lib/python3.12/site-packages/a.pth": "{0}/src\n",
}


@pytest.fixture
def checkout(project: Path, home: Path) -> Path:
    assert home.is_dir()
    commit_files(project, _FILES)
    write_files(project, {name: text.format(project) for name, text in _IGNORED.items()})
    (project / "node_modules/oven").symlink_to("../packages/oven")
    return project


def _begin(root: Path, folder: Path, kind: PlaceKind) -> Place:
    shared, included = choose_ignored_files(root, "HEAD")
    links = tuple(find_links_to_checkout(root, [], {"PATH": "/nowhere"}, shared))
    settings = PlaceSettings(
        find_checkout(root), root, kind, shared, included, links=links, setup_commands=("make",)
    )
    place = Place(PlaceFolder(folder), settings)
    place.open()
    place.set_base(read_base(root))
    place.begin({})
    place.check_out(place.base.tree)
    return place


@pytest.mark.parametrize("kind", [ASIDE, _BOUND])
def test_what_git_ignores_is_there_and_is_no_part_of_the_tree(
    checkout: Path, tmp_path: Path, kind: PlaceKind
) -> None:
    place = _begin(checkout, tmp_path / "place", kind)
    for git_tree in (place.tree, place.checks):
        assert (git_tree.tree / ".env").read_text() == "SECRET=1\n"
        assert (git_tree.tree / "src/a.so").is_file()
        names = {"node_modules", ".venv", "packages"}
        assert names <= {path.name for path in git_tree.tree.iterdir()}
    state = place.read_state()
    assert (state.tree, state.ignored_paths) == (
        git(checkout, "rev-parse", "HEAD^{tree}").strip(), ()
    )  # fmt: skip


def test_commands_elsewhere_find_the_trees_own_modules(checkout: Path, tmp_path: Path) -> None:
    place = _begin(checkout, tmp_path / "place", ASIDE)
    for tree in (place.tree, place.checks):
        command = make_shell_command("true", tree.tree, {"PATH": "/bin", "PYTHONPATH": "/mine"})
        environ = place.confine(command, tree).environ
        assert environ["PYTHONPATH"] == f"{tree.tree}/src:/mine"
        assert environ["UV_NO_SYNC"] == "1"
        assert (tree.tree / "node_modules/oven").samefile(tree.tree / "packages/oven")
        assert (tree.tree / "node_modules/semver").samefile(checkout / "node_modules/semver")


def test_commands_at_the_projects_path_need_no_other_modules(
    checkout: Path, tmp_path: Path
) -> None:
    place = _begin(checkout, tmp_path / "place", _BOUND)
    command = make_shell_command("true", checkout, {"PATH": "/bin", "UV_NO_SYNC": "0"})
    environ = place.confine(command, place.checks).environ
    assert {"PYTHONPATH": environ.get("PYTHONPATH"), "UV_NO_SYNC": environ["UV_NO_SYNC"]} == {
        "PYTHONPATH": None,
        "UV_NO_SYNC": "0",
    }


def test_the_next_attempt_finds_them_as_the_first_did(checkout: Path, tmp_path: Path) -> None:
    place = _begin(checkout, tmp_path / "place", ASIDE)
    place.confine(make_shell_command("true", checkout, {}), place.tree)
    top = place.folder.tree
    (top / ".env").write_text("changed")
    (top / "node_modules/oven").unlink()
    (top / "node_modules/mine").mkdir()
    (top / ".venv").unlink()
    (top / ".venv").mkdir()
    (checkout / ".env").write_text("SECRET=2\n")
    place.begin({})
    assert (top / ".env").read_text() == "SECRET=2\n"
    assert (top / "node_modules/oven/index.js").is_file()
    assert not (top / "node_modules/mine").exists()
    assert (top / ".venv").readlink() == checkout / ".venv"
    assert (checkout / "node_modules/semver/index.js").is_file()


def _write_tree(root: Path, path: str, text: str) -> str:
    (root / path).write_text(text)
    git(root, "add", path)
    tree = git(root, "write-tree").strip()
    git(root, "reset", "-q", "--hard")
    return tree


def test_what_setup_commands_made_stays_until_a_lock_file_changes(
    checkout: Path, tmp_path: Path
) -> None:
    place = _begin(checkout, tmp_path / "place", ASIDE)
    top, setup, base = place.folder.checks, place.get_setup(place.checks), place.base.tree
    place.confine(make_shell_command("true", checkout, {}), place.checks)
    for name in ("made.txt", "src/made.so", ".env.made"):
        (top / name).write_text("made")
    (top / "src/a.py").write_text("changed")
    place.finish_setup(place.checks)
    assert (setup.is_due, place.list_edits_of_checks()) == (False, [])
    assert not set(setup.made_paths) & {".env", "node_modules/", ".venv/"}
    place.check_out(_write_tree(checkout, "src/a.py", "other"))
    assert ((top / "made.txt").read_text(), (top / "src/a.py").read_text()) == ("made", "other")
    assert (top / "src/made.so").exists()
    place.confine(make_shell_command("true", checkout, {}), place.checks)
    place.check_out(_write_tree(checkout, "uv.lock", "other"))
    assert (setup.is_due, (top / "made.txt").exists()) == (True, False)
    assert place.get_setup(place.tree).is_due
    place.check_out(base)
    assert place.get_setup(place.checks).is_due


def test_what_setup_commands_made_is_no_part_of_the_work(checkout: Path, tmp_path: Path) -> None:
    place = _begin(checkout, tmp_path / "place", _BOUND)
    (place.folder.tree / "made.txt").write_text("made")
    (place.folder.tree / "made.so").write_text("made")
    place.finish_setup(place.tree)
    assert (place.read_state().tree, place.read_state().ignored_paths) == (place.base.tree, ())
    (place.folder.tree / "mine.txt").write_text("mine")
    assert place.read_state().tree != place.base.tree


@pytest.mark.parametrize(("path", "is_there"), [("src/a.py", True), ("src/a.c", False)])
def test_an_extension_whose_sources_changed_is_not_in_the_tree_of_checks(
    checkout: Path, tmp_path: Path, path: str, is_there: bool
) -> None:
    place = _begin(checkout, tmp_path / "place", ASIDE)
    assert (place.folder.checks / "src/a.so").exists()
    place.check_out(_write_tree(checkout, path, "other"))
    assert (place.folder.checks / "src/a.so").exists() is is_there
    place.check_out(place.base.tree)
    assert (place.folder.checks / "src/a.so").exists()


def test_a_submodule_that_an_attempt_removed_is_not_a_changed_one(
    checkout: Path, empty_repository: Path, tmp_path: Path
) -> None:
    shutil.copytree(empty_repository, tmp_path / "lib")
    (tmp_path / "lib" / "l.py").touch()
    git(tmp_path / "lib", "add", ".")
    git(tmp_path / "lib", "commit", "-qm", "start")
    allow = ("-c", "protocol.file.allow=always")
    git(checkout, *allow, "submodule", "add", "-q", f"{tmp_path}/lib", "lib")
    git(checkout, "commit", "-qm", "submodule")
    place = _begin(checkout, tmp_path / "place", ASIDE)
    (place.folder.tree / "lib" / "l.py").write_text("edited\n", encoding="utf-8")
    assert place.list_changed_submodules() == ("lib",)
    shutil.rmtree(place.folder.tree / "lib")
    assert place.list_changed_submodules() == ()
