from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cub.errors import CubError, UsageError
from cub.files.file_tree import DiskTree, FileTree
from cub.git.commit_tree import (
    CommitTree,
    EntryChange,
    PathError,
    iter_changed_entries,
    resolve_range,
)
from cub.git.objects import ObjectReader, TreeEntry
from tests.conftest import git
from tests.examples import hardly_any_examples
from tests.git.commits import Files, Node, commit, link, lose, program, submodule

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")

TREE: Files = {
    "AGENTS.md": b"here",
    "docs/guide.md": b"guide",
    "docs/deep/page.md": b"page",
    "link.md": link("AGENTS.md"),
    "again.md": link("link.md"),
    "dotted.md": link("./docs/../AGENTS.md"),
    "up/link.md": link("../AGENTS.md"),
    "alias": link("docs"),
    "alias-2": link("alias/deep/"),
    "docs/back.md": link("../docs/guide.md"),
    "dangling.md": link("nowhere.md"),
    "dangling-2.md": link("nowhere/../AGENTS.md"),
    "through.md": link("AGENTS.md/../docs/guide.md"),
    "self.md": link("self.md"),
    "ping": link("pong"),
    "pong": link("ping"),
    "out.md": link("../theirs.md"),
    "out-2.md": link("docs/../../theirs.md"),
    "absolute.md": link("/etc/passwd"),
    "outside": link(".."),
    "here": link("."),
    "empty.md": link(""),
    "slash.md": link("AGENTS.md/"),
    "dot.md": link("AGENTS.md/."),
    "git.md": link(".git/config"),
    "module": submodule(),
    "run.sh": program(b"#!"),
}


@pytest.fixture(scope="module")
def revision(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommitTree]:
    """A commit with everything that a tree can hold; it is only read."""
    root = tmp_path_factory.mktemp("revision")
    git(root, "init", "-q")
    oid = commit(root, TREE)
    with ObjectReader(root) as objects:
        yield CommitTree(objects, oid)


@pytest.mark.parametrize(
    ("path", "real", "data"),
    [
        ("AGENTS.md", "AGENTS.md", b"here"),
        ("docs/deep/page.md", "docs/deep/page.md", b"page"),
        ("link.md", "AGENTS.md", b"here"),
        ("again.md", "AGENTS.md", b"here"),
        ("dotted.md", "AGENTS.md", b"here"),
        ("up/link.md", "AGENTS.md", b"here"),
        ("alias/guide.md", "docs/guide.md", b"guide"),
        ("alias/back.md", "docs/guide.md", b"guide"),
        ("alias-2/page.md", "docs/deep/page.md", b"page"),
        ("here/alias/here/guide.md", "docs/here/guide.md", None),
        ("here/here/docs/guide.md", "docs/guide.md", b"guide"),
        ("run.sh", "run.sh", b"#!"),
        ("nope.md", "nope.md", None),
        ("nope/nope.md", "nope/nope.md", None),
        ("AGENTS.md/nope.md", "AGENTS.md/nope.md", None),
        ("alias/nope.md", "docs/nope.md", None),
        ("module/inside.md", "module/inside.md", None),
    ],
)
def test_files_are_read_with_links_followed(
    revision: CommitTree, path: str, real: str, data: bytes | None
) -> None:
    assert (revision.resolve_path(path), revision.read(path)) == (real, data)
    assert revision.get_identity(path) == (None if data is None else real)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("docs", "this is a directory"),
        ("alias", "this is a directory"),
        ("here", "this is a directory"),
        ("empty.md", "this is a directory"),
        ("module", "this is another repository"),
        ("dangling.md", "points to nowhere.md, which does not exist"),
        ("dangling-2.md", "points to nowhere/../AGENTS.md, which does not exist"),
        ("through.md", "which does not exist"),
        ("slash.md", "points to AGENTS.md/, which does not exist"),
        ("dot.md", "points to AGENTS.md/., which does not exist"),
        ("git.md", "points to .git/config, which does not exist"),
        ("self.md", "leads back to itself"),
        ("ping", "leads back to itself"),
        ("pong/x.md", "leads back to itself"),
        ("out.md", "leads out of the project"),
        ("out-2.md", "leads out of the project"),
        ("absolute.md", "leads out of the project"),
        ("outside/x.md", "leads out of the project"),
    ],
)
def test_what_is_no_file_of_the_commit_is_refused(
    revision: CommitTree, path: str, message: str
) -> None:
    with pytest.raises(PathError, match=message) as caught:
        revision.read(path)
    assert caught.value.where == path


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("docs", {"guide.md", "deep", "back.md"}),
        ("alias", {"guide.md", "deep", "back.md"}),
        ("alias-2", {"page.md"}),
        ("here/docs/deep", {"page.md"}),
        ("AGENTS.md", set()),
        ("link.md", set()),
        ("module", set()),
        ("nope", set()),
        ("outside", set()),
        ("ping", set()),
        ("dangling.md", set()),
    ],
)
def test_only_folders_of_the_commit_have_names(
    revision: CommitTree, folder: str, names: set[str]
) -> None:
    assert revision.list_names(folder) == names
    assert revision.has_folder(folder) == bool(names)


def test_the_root_is_a_folder_like_others(revision: CommitTree) -> None:
    assert (
        revision.list_names("")
        == revision.list_names("here")
        == {path.split("/")[0] for path in TREE}
    )
    assert revision.has_folder("")
    assert revision.resolve_path("") == revision.resolve_path(".") == ""


def test_below_a_prefix_nothing_outside_is_seen(repository: Path) -> None:
    files: Files = {
        "a.md": b"outer",
        "p/a.md": b"inner",
        "p/up.md": link("../a.md"),
        "p/x": link("../p"),
    }
    oid = commit(repository, files)
    with ObjectReader(repository) as objects:
        inner = CommitTree(objects, oid, "p")
        assert inner.read("a.md") == b"inner"
        assert inner.list_names("") == {"a.md", "up.md", "x"}
        for path in ("up.md", "x/a.md"):
            with pytest.raises(PathError, match="out of the project"):
                inner.read(path)
        nowhere = CommitTree(objects, oid, "q")
        assert (nowhere.read("a.md"), nowhere.list_names(""), nowhere.has_folder("")) == (
            None,
            frozenset(),
            False,
        )


def test_objects_that_are_missing_are_never_taken_for_missing_files(repository: Path) -> None:
    oid = commit(repository, {"docs/a.md": b"x"})
    lose(repository, f"{oid}:docs")
    with ObjectReader(repository) as objects:
        revision = CommitTree(objects, oid)
        asked: list[Callable[[], object]] = [
            lambda: revision.list_names("docs"),
            lambda: revision.has_folder("docs/deeper"),
            lambda: revision.read("docs/a.md"),
        ]
        for ask in asked:
            with pytest.raises(CubError, match="git lacks the object"):
                ask()


# Paths and targets that meet: short names, so that links often lead somewhere.
_NAMES = st.sampled_from(["a", "b", "c"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)
_REFUSED = ("refused", None)
_STEPS = st.sampled_from(["a", "b", "c", "..", ".", ""])
_TARGETS = st.lists(_STEPS, min_size=1, max_size=4).map("/".join).filter(bool)
_CONTENTS = st.just(b"x") | _TARGETS.map(link)
_TREES = st.dictionaries(_PATHS, _CONTENTS, min_size=1, max_size=6).map(
    lambda files: {p: c for p, c in files.items() if not any(q.startswith(f"{p}/") for q in files)}
)


@posix
@example(files={"a": link("b"), "b/a": link("b")}, asked=["a/a"])
@hardly_any_examples
@given(files=_TREES, asked=st.lists(_PATHS, min_size=1, max_size=8))
def test_a_commit_reads_like_its_checkout(
    tmp_path_factory: pytest.TempPathFactory, files: Files, asked: list[str]
) -> None:
    repository = tmp_path_factory.getbasetemp() / "one-for-all"
    if not repository.exists():
        repository.mkdir()
        git(repository, "init", "-q", "--bare")
    oid = commit(repository, files)
    with tempfile.TemporaryDirectory() as folder, ObjectReader(repository) as objects:
        root = Path(folder).resolve() / "checkout"
        _check_out(root, files)
        disk, revision = DiskTree(root), CommitTree(objects, oid)
        for path in dict.fromkeys([*files, *asked]):
            inside = (root / path).resolve().is_relative_to(root) if _ends(root / path) else False
            found, expected = _outcome(revision, path), _opened(root, path, _outcome(disk, path))
            # A link on the way that leads nowhere is no file to one and a fault to the other.
            assert found == expected or (found == _REFUSED and expected[1] is None), path
            if inside:
                assert revision.list_names(path) == disk.list_names(path), path
                assert revision.has_folder(path) == disk.has_folder(path), path


def _check_out(root: Path, files: Files) -> None:
    root.mkdir()
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Node):
            file.symlink_to(content.data.decode())
        else:
            file.write_bytes(content or b"")


def _ends(path: Path) -> bool:
    """Whether links on the way do not lead back to themselves."""
    try:
        os.path.realpath(path, strict=True)
    except OSError as error:
        return error.errno == 2
    return True


def _outcome(tree: FileTree, path: str) -> tuple[str, bytes | None]:
    """Where a path leads and what it holds, or that it is refused."""
    try:
        data = tree.read(path)
        return tree.resolve_path(path), data
    except CubError:
        return _REFUSED


def _opened(root: Path, path: str, found: tuple[str, bytes | None]) -> tuple[str, bytes | None]:
    """Python follows `file/.` and `file/..` in a link, which no disk opens."""
    try:
        (root / path).read_bytes()
    except OSError:
        return _REFUSED if found[1] is not None else found
    return found


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository for `history`; it is only read."""
    root = tmp_path_factory.mktemp("history")
    git(root, "init", "-q")
    return root


@pytest.fixture(scope="module")
def history(branched: Path) -> dict[str, str]:
    """`base`, on it `left` and `right`, and an `island`."""
    base = commit(branched, {"a": b"0"})
    left = commit(branched, {"a": b"1"}, base, branch="left")
    right = commit(branched, {"a": b"2"}, base, branch="right")
    island = commit(branched, {"b": b"3"}, branch="island")
    git(branched, "tag", "-a", "v1", "-m", "x", base)
    git(branched, "symbolic-ref", "HEAD", "refs/heads/right")
    git(branched, "update-ref", "--create-reflog", "HEAD", right)
    return {"base": base, "left": left, "right": right, "island": island}


@pytest.mark.parametrize(
    ("text", "base", "head"),
    [
        ("left..right", "left", "right"),
        ("left...right", "base", "right"),
        ("left", "left", "right"),
        ("v1", "base", "right"),
        ("v1..left", "base", "left"),
        ("left..", "left", "right"),
        ("..left", "right", "left"),
        ("...left", "base", "left"),
        ("left...", "base", "right"),
        ("left~1..left^{commit}", "base", "left"),
        ("HEAD@{0}..left", "right", "left"),
        ("refs/heads/left..heads/right", "left", "right"),
        ("island..left", "island", "left"),
        ("left..left", "left", "left"),
    ],
)
def test_a_range_means_what_it_means_to_git(
    branched: Path, history: dict[str, str], text: str, base: str, head: str
) -> None:
    with ObjectReader(branched) as objects:
        ends = resolve_range(objects, text)
        assert (ends.base, ends.head) == (history[base], history[head])
        subject = git(branched, "log", "-1", "--format=%s", ends.head).strip()
        by_words = resolve_range(objects, f"{ends.base}..:/{subject}") if subject else ends
        assert git(branched, "log", "-1", "--format=%s", by_words.head).strip() == subject
        for oid in (ends.base, ends.head):
            shortened = resolve_range(objects, f"{oid[:9]}..{oid}")
            assert shortened[:2] == (oid, oid)


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("nope", "nope", "git knows no such commit"),
        ("left..nope", "nope", "git knows no such commit"),
        ("nope..left", "nope", "git knows no such commit"),
        ("left~5", "left~5", "git knows no such commit"),
        ("left^{tree}", "left^{tree}", "git knows no such commit"),
        ("left:a", "left:a", "git knows no such commit"),
        ("left....right", ".right", "git knows no such commit"),
        ("left\nright", "left\nright", "git knows no such commit"),
        ("island...left", "island...left", "these commits have no common ancestor here"),
    ],
)
def test_a_name_that_leads_nowhere_is_an_error_with_a_hint(
    branched: Path, text: str, where: str, message: str
) -> None:
    with ObjectReader(branched) as objects, pytest.raises(CubError, match=message) as caught:
        resolve_range(objects, text)
    assert caught.value.where == where
    assert "git fetch" in caught.value.hint


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    "text", ["-x", "--all", "left..--all", "--output=x...left", "", "..", "..."]
)
def test_what_can_be_no_name_is_a_usage_error(branched: Path, text: str) -> None:
    with ObjectReader(branched) as objects, pytest.raises(UsageError):
        resolve_range(objects, text)


def test_a_shallow_clone_says_how_to_get_the_rest(
    branched: Path, history: dict[str, str], tmp_path: Path
) -> None:
    assert history
    clone = tmp_path / "clone"
    git(branched, "clone", "-q", "--depth", "1", branched.as_uri(), str(clone))
    git(clone, "fetch", "-q", "--depth", "1", "origin", "left")
    with ObjectReader(clone) as objects:
        for text in ("HEAD~1", "HEAD...FETCH_HEAD"):
            with pytest.raises(CubError) as caught:
                resolve_range(objects, text)
            assert "git fetch --unshallow" in caught.value.hint
            assert "fetch depth of 0" in caught.value.hint


def test_a_repository_without_commits_has_no_head(repository: Path) -> None:
    with ObjectReader(repository) as objects, pytest.raises(CubError, match="no such commit"):
        resolve_range(objects, "HEAD")


OLD: Files = {
    "same": b"x",
    "text": b"1",
    "gone": b"x",
    "mode": b"x",
    "file-to-link": b"x",
    "file-to-folder": b"x",
    "folder-to-file/a": b"x",
    "folder-to-file/b": b"x",
    "folder/same": b"x",
    "folder/text": b"1",
    "module": submodule(),
    "a b\n\udcff": b"1",
}
NEW: Files = {
    "text": b"2",
    "gone": None,
    "new/deep/file": b"",
    "mode": program(b"x"),
    "file-to-link": link("same"),
    "file-to-folder": None,
    "file-to-folder/inside": b"x",
    "folder-to-file": b"x",
    "folder/text": b"2",
    "module": submodule("2" * 40),
    "a b\n\udcff": b"2",
}
CHANGED = {
    "a b\n\udcff": ("100644", "100644"),
    "file-to-folder": ("100644", None),
    "file-to-folder/inside": (None, "100644"),
    "file-to-link": ("100644", "120000"),
    "folder/text": ("100644", "100644"),
    "folder-to-file": (None, "100644"),
    "folder-to-file/a": ("100644", None),
    "folder-to-file/b": ("100644", None),
    "gone": ("100644", None),
    "mode": ("100644", "100755"),
    "module": ("160000", "160000"),
    "new/deep/file": (None, "100644"),
    "text": ("100644", "100644"),
}


def _modes(change: EntryChange) -> tuple[str | None, ...]:
    return tuple(entry and f"{entry.mode:06o}" for entry in change)


def test_every_path_that_differs_is_told_once_in_the_order_of_names(repository: Path) -> None:
    base = commit(repository, OLD)
    head = commit(repository, NEW, base)
    with ObjectReader(repository) as objects:
        old, new = (CommitTree(objects, oid).find_entry("") for oid in (base, head))
        found = {path: _modes(change) for path, change in iter_changed_entries(objects, old, new)}
        assert list(found.items()) == list(CHANGED.items())
        back = {path: _modes(change) for path, change in iter_changed_entries(objects, new, old)}
        assert back == {path: modes[::-1] for path, modes in CHANGED.items()}
        assert list(iter_changed_entries(objects, new, new)) == []
        every = [path for path, _ in iter_changed_entries(objects, None, new)]
        assert len(every) == len(git(repository, "ls-tree", "-r", head).splitlines())


def test_equal_folders_are_not_even_read(repository: Path) -> None:
    base = commit(repository, {"big/file": b"x", "small/file": b"1"})
    head = commit(repository, {"small/file": b"2"}, base)
    lose(repository, f"{head}:big")
    with ObjectReader(repository) as objects:
        old, new = (CommitTree(objects, oid).find_entry("") for oid in (base, head))
        assert [path for path, _ in iter_changed_entries(objects, old, new)] == ["small/file"]


def test_a_tree_may_be_deeper_than_python_recurses(repository: Path) -> None:
    deep = "d/" * (sys.getrecursionlimit() + 500) + "file"
    oid = commit(repository, {deep: b"x"})
    with ObjectReader(repository) as objects:
        revision = CommitTree(objects, oid)
        found = list(iter_changed_entries(objects, None, revision.find_entry("")))
        assert [path for path, _ in found] == [deep]
        assert revision.read(deep) == b"x"
        assert revision.find_entry("d") == TreeEntry(
            0o040000, objects.read_tree(f"{oid}^{{tree}}")["d"].oid
        )
