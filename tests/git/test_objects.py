from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cub.errors import CubError
from cub.git import Objects
from cub.git.objects import FOLDER, LINK, SUBMODULE, Entry
from tests.conftest import environment, git
from tests.git.commits import Files, commit, link, program, submodule

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
    with Objects(tmp_path) as objects:
        entries = objects.tree(f"{oid}^{{tree}}")
        assert set(entries) == {*ODD, "run.sh", "there", "module", "folder"}
        assert entries["run.sh"].mode == 0o100755
        assert entries["module"] == Entry(SUBMODULE, "1" * width)
        assert (entries["there"].mode, entries["folder"].mode) == (LINK, FOLDER)
        assert objects.blob(entries["there"].oid) == b"run.sh"
        assert objects.blob(entries["caf\udce9"].oid) == b"x"
        assert objects.tree(entries["folder"].oid)["deep"].mode == 0o100644


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"x", b"a\n\n", b"\0\xff\r\n", b"1234 blob 5\n", b"x" * 3_000_000]
)
def test_blobs_are_exact_one_after_the_other(tmp_path: Path, data: bytes) -> None:
    git(tmp_path, "init", "-q")
    oid = commit(tmp_path, {"a": data, "b": b"next"})
    with Objects(tmp_path) as objects:
        entries = objects.tree(f"{oid}^{{tree}}")
        assert objects.blob(entries["a"].oid) == data
        assert objects.blob(entries["b"].oid) == b"next"


@pytest.mark.parametrize(
    "branch", ["ünïcode", "feature/x-1", "it's$(here)`", "a\u202eb", "@", "x{y"]
)
def test_a_branch_may_have_any_name_that_git_takes(tmp_path: Path, branch: str) -> None:
    git(tmp_path, "init", "-q")
    oid = commit(tmp_path, {"a": b"x"})
    git(tmp_path, "update-ref", f"refs/heads/{branch}", oid)
    with Objects(tmp_path) as objects:
        found = objects.get(f"refs/heads/{branch}^{{commit}}")
    assert found is not None
    assert (found.oid, found.kind) == (oid, "commit")


def test_an_annotated_tag_leads_to_its_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    oid = commit(tmp_path, {"a": b"x"})
    git(tmp_path, "tag", "-a", "v1", "-m", "first", oid)
    git(tmp_path, "tag", "-a", "v1-again", "-m", "a tag of a tag", "v1")
    with Objects(tmp_path) as objects:
        tag, behind = objects.get("v1-again"), objects.get("v1-again^{commit}")
    assert tag is not None
    assert behind is not None
    assert (tag.kind, behind.kind, behind.oid) == ("tag", "commit", oid)


@pytest.mark.parametrize(
    "name",
    ["nope", "main 5 6", "main\nmain", "", "-x", "--all", "main^{blob}", "1" * 40, "\udcff", "a b"],
)
def test_what_git_does_not_know_is_none_and_the_next_answer_is_right(
    tmp_path: Path, name: str
) -> None:
    git(tmp_path, "init", "-q")
    oid = commit(tmp_path, {"a": b"x"})
    with Objects(tmp_path) as objects:
        assert objects.get(name) is None
        found = objects.get("main")
    assert found is not None
    assert found.oid == oid


def test_an_object_that_is_missing_is_an_error_with_a_hint(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with Objects(tmp_path) as objects, pytest.raises(CubError) as caught:
        objects.blob("1" * 40)
    assert caught.value.message == "git lacks the object 111111111111"
    assert "partial or damaged" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"no tree at all", b"100644 name without an end", b"10x644 a\0" + b"1" * 20, b"\0" * 30],
)
def test_a_damaged_tree_is_a_known_error(tmp_path: Path, data: bytes) -> None:
    git(tmp_path, "init", "-q")
    oid = literally(tmp_path, "tree", data)
    with Objects(tmp_path) as objects, pytest.raises(CubError, match="is damaged") as caught:
        objects.tree(oid)
    assert "git fsck" in caught.value.hint


def test_an_object_of_another_type_than_its_tree_says_is_a_known_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    blob = literally(tmp_path, "blob", b"40000 folder\0" + b"1" * 20)
    tree = literally(tmp_path, "tree", b"")
    with Objects(tmp_path) as objects:
        with pytest.raises(CubError, match="is damaged"):
            objects.tree(blob)
        with pytest.raises(CubError, match="is damaged"):
            objects.blob(tree)


def test_a_folder_that_is_no_repository_is_a_known_error(tmp_path: Path) -> None:
    with Objects(tmp_path) as objects, pytest.raises(CubError, match="not a git repository"):
        objects.get("HEAD")


def test_git_that_is_not_there_is_a_known_error(tmp_path: Path, home: Path) -> None:
    code = (
        "from pathlib import Path; from cub.git import Objects\n"
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
    with Objects(clone) as objects:
        entry = objects.tree(f"{oid}^{{tree}}")["a"]
        with pytest.raises(CubError, match=r"lacks the object|promisor remote") as caught:
            objects.blob(entry.oid)
    assert "this clone is partial" in caught.value.hint
