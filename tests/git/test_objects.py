from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git.objects import (
    FOLDER_MODE,
    LINK_MODE,
    SUBMODULE_MODE,
    ObjectReader,
    TreeEntry,
    read_merge_stages,
)
from tests.conftest import environment, git
from tests.git.commits import Files, commit, link, program, submodule


@pytest.fixture
def merging(project: Path) -> Path:
    """A repository in a merge with conflicts in `a.md` and `sub/b.md`."""
    for branch, text in (("base", "1\n"), ("ours", "2\n"), ("theirs", "3\n")):
        git(project, "checkout", "-q", "-b", branch, *(["base"] if text != "1\n" else []))
        for name in ("a.md", "sub/b.md", "same.md"):
            (project / "sub").mkdir(exist_ok=True)
            (project / name).write_text(name if name == "same.md" else text)
        git(project, "add", ".")
        git(project, "commit", "-q", "-m", branch)
    git(project, "checkout", "-q", "ours")
    merge = ["git", "merge", "-q", "theirs"]
    assert subprocess.run(merge, cwd=project, capture_output=True, check=False).returncode == 1
    return project


def test_both_sides_and_their_ancestor_are_found_from_any_folder(merging: Path) -> None:
    assert read_merge_stages(merging, "a.md") == [b"2\n", b"3\n", b"1\n"]
    assert read_merge_stages(merging, "sub/b.md") == [b"2\n", b"3\n", b"1\n"]
    assert read_merge_stages(merging / "sub", "b.md") == [b"2\n", b"3\n", b"1\n"]


def test_a_file_that_is_not_being_merged_has_none(merging: Path) -> None:
    assert read_merge_stages(merging, "same.md") == []
    assert read_merge_stages(merging, "nothing.md") == []
    git(merging, "add", "a.md")
    assert read_merge_stages(merging, "a.md") == []


def test_outside_git_there_are_none(tmp_path: Path) -> None:
    assert read_merge_stages(tmp_path, "a.md") == []


def test_where_git_cannot_read_there_are_none(merging: Path) -> None:
    (merging / ".git" / "index").write_bytes(b"no index")
    assert read_merge_stages(merging, "a.md") == []


# Names of files that a line-based reader of git's output would stumble over.
ODD = [
    "a b",
    " ",
    "new\nline",
    "tab\t",
    'quo"te',
    "back\\slash",
    "ünïcode",
    "caf\udce9",
    "\x1b[31m",
    "100644 x",
    "a\u202eb",
]


def literally(root: Path, kind: str, data: bytes) -> str:
    """An object that git would not write by itself."""
    done = subprocess.run(
        ["git", "hash-object", "-w", "-t", kind, "--literally", "--stdin"],
        cwd=root,
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_entries_have_their_modes_and_exact_names(tmp_path: Path, form: str) -> None:
    git(tmp_path, "init", "-q", f"--object-format={form}")
    width = {"sha1": 40, "sha256": 64}[form]
    nodes: Files = {
        **dict.fromkeys(ODD, b"x"),
        "run.sh": program(b"#!"),
        "there": link("run.sh"),
        "module": submodule("1" * width),
        "folder/deep": b"",
    }
    oid = commit(tmp_path, nodes)
    with ObjectReader(tmp_path) as objects:
        entries = objects.read_tree(f"{oid}^{{tree}}")
        assert set(entries) == {*ODD, "run.sh", "there", "module", "folder"}
        assert entries["run.sh"].mode == 0o100755
        assert entries["module"] == TreeEntry(SUBMODULE_MODE, "1" * width)
        assert (entries["there"].mode, entries["folder"].mode) == (LINK_MODE, FOLDER_MODE)
        assert objects.read_blob(entries["there"].oid) == b"run.sh"
        assert objects.read_blob(entries["caf\udce9"].oid) == b"x"
        assert objects.read_tree(entries["folder"].oid)["deep"].mode == 0o100644


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x", b"a\n\n", b"\0\xff\r\n", b"1234 blob 5\n", b"x" * 3_000_000]
)
def test_blobs_are_exact_one_after_the_other(repository: Path, data: bytes) -> None:
    oid = commit(repository, {"a": data, "b": b"next"})
    with ObjectReader(repository) as objects:
        entries = objects.read_tree(f"{oid}^{{tree}}")
        assert objects.read_blob(entries["a"].oid) == data
        assert objects.read_blob(entries["b"].oid) == b"next"


@pytest.mark.parametrize(
    "branch", ["ünïcode", "feature/x-1", "it's$(here)`", "a\u202eb", "@", "x{y"]
)
def test_a_branch_may_have_any_name_that_git_takes(repository: Path, branch: str) -> None:
    oid = commit(repository, {"a": b"x"})
    git(repository, "update-ref", f"refs/heads/{branch}", oid)
    with ObjectReader(repository) as objects:
        found = objects.find_object(f"refs/heads/{branch}^{{commit}}")
    assert found is not None
    assert (found.oid, found.kind) == (oid, "commit")


def test_an_annotated_tag_leads_to_its_commit(repository: Path) -> None:
    oid = commit(repository, {"a": b"x"})
    git(repository, "tag", "-a", "v1", "-m", "first", oid)
    git(repository, "tag", "-a", "v1-again", "-m", "a tag of a tag", "v1")
    with ObjectReader(repository) as objects:
        tag, behind = objects.find_object("v1-again"), objects.find_object("v1-again^{commit}")
    assert tag is not None
    assert behind is not None
    assert (tag.kind, behind.kind, behind.oid) == ("tag", "commit", oid)


@pytest.mark.parametrize(
    "name",
    ["nope", "main 5 6", "main\nmain", "", "-x", "--all", "main^{blob}", "1" * 40, "\udcff", "a b"],
)
def test_what_git_does_not_know_is_none_and_the_next_answer_is_right(
    repository: Path, name: str
) -> None:
    oid = commit(repository, {"a": b"x"})
    with ObjectReader(repository) as objects:
        assert objects.find_object(name) is None
        found = objects.find_object("main")
    assert found is not None
    assert found.oid == oid


def test_an_object_that_is_missing_is_an_error_with_a_hint(repository: Path) -> None:
    with ObjectReader(repository) as objects, pytest.raises(CubError) as caught:
        objects.read_blob("1" * 40)
    assert caught.value.message == "git lacks the object 111111111111"
    assert "partial or damaged" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"no tree at all", b"100644 name without an end", b"10x644 a\0" + b"1" * 20, b"\0" * 30],
)
def test_a_damaged_tree_is_a_known_error(repository: Path, data: bytes) -> None:
    oid = literally(repository, "tree", data)
    with ObjectReader(repository) as objects, pytest.raises(CubError, match="is damaged") as caught:
        objects.read_tree(oid)
    assert "git fsck" in caught.value.hint


def test_an_object_of_another_type_than_its_tree_says_is_a_known_error(repository: Path) -> None:
    blob = literally(repository, "blob", b"40000 folder\0" + b"1" * 20)
    tree = literally(repository, "tree", b"")
    with ObjectReader(repository) as objects:
        with pytest.raises(CubError, match="is damaged"):
            objects.read_tree(blob)
        with pytest.raises(CubError, match="is damaged"):
            objects.read_blob(tree)


def test_a_folder_that_is_no_repository_is_a_known_error(tmp_path: Path) -> None:
    with ObjectReader(tmp_path) as objects, pytest.raises(CubError, match="not a git repository"):
        objects.find_object("HEAD")


def test_git_that_is_not_there_is_a_known_error(tmp_path: Path, home: Path) -> None:
    code = (
        "from pathlib import Path; from cub.git.objects import ObjectReader as Objects\n"
        f"with Objects(Path({str(tmp_path)!r})): pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment(home), "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "CubError: git can't be started" in done.stderr


def test_a_partial_clone_without_its_source_is_a_known_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, clone = tmp_path / "source", tmp_path / "clone"
    source.mkdir()
    git(source, "init", "-q")
    git(source, "config", "uploadpack.allowFilter", "true")
    oid = commit(source, {"a": b"x"})
    address = source.as_uri()
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", address, str(clone))
    git(clone, "remote", "set-url", "origin", (tmp_path / "nowhere").as_uri())
    monkeypatch.setenv("GIT_NO_LAZY_FETCH", "1")
    with ObjectReader(clone) as objects:
        entry = objects.read_tree(f"{oid}^{{tree}}")["a"]
        with pytest.raises(CubError, match=r"lacks the object|promisor remote") as caught:
            objects.read_blob(entry.oid)
    assert "this clone is partial" in caught.value.hint
