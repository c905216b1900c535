"""The mutations fit the code that stands there, and their runner tells what a test notices."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.mutations.__main__ import choose, main
from tests.mutations.catalog import MUTATIONS
from tests.mutations.copies import REPOSITORY, BrokenCopyError, Copy
from tests.mutations.mutation import Mutation

_SOURCE = "def add(a: int, b: int) -> int:\n    return a + b\n"
_TEST = """
from cub import add

def test_no_sum(): assert add(0, 0) == 0
def test_a_sum(): assert add(2, 3) == 5
"""


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[one.name for one in MUTATIONS])
def test_each_fits_the_code_that_stands_there(mutation: Mutation) -> None:
    text = (REPOSITORY / mutation.path).read_text(encoding="utf-8")
    mutated = mutation.mutate(text)
    assert mutated != text
    compile(mutated, mutation.path, "exec")  # a syntax error would be noticed by anything
    for test in mutation.tests:
        assert (REPOSITORY / test.partition("::")[0]).exists(), test


def test_no_name_stands_for_two() -> None:
    assert max(Counter(one.name for one in MUTATIONS).values()) == 1


@pytest.mark.parametrize("text", ["", "a + b", "a + b, a + b"])
def test_what_does_not_fit_once_is_no_mutation(text: str) -> None:
    mutation = Mutation("it subtracts", "cub.py", "a + b", "a - b", ())
    if text.count("a + b") == 1:
        assert mutation.mutate(text) == "a - b"
    else:
        with pytest.raises(ValueError, match=f"{text.count('a + b')} times, not once"):
            mutation.mutate(text)


def test_they_are_chosen_by_name_and_by_path() -> None:
    assert choose(MUTATIONS, []) == [*MUTATIONS]
    assert choose(MUTATIONS, [MUTATIONS[0].name]) == [MUTATIONS[0]]
    of_git = choose(MUTATIONS, ["cub/git/"])
    assert of_git
    assert all(one.path.startswith("cub/git/") for one in of_git)


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["no such mutation"])
    assert "no mutation is named so" in capsys.readouterr().err


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A repository with a package of its own that is called cub, and tests of it."""
    folder = tmp_path / "small"
    files = {"cub/__init__.py": _SOURCE, "test_add.py": _TEST}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / ".gitignore").write_text("__pycache__/\nnotes.txt\n")
    (folder / "notes.txt").write_text("ignored")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


@pytest.mark.thorough
def test_a_copy_tells_which_test_notices(small: Path, tmp_path: Path) -> None:
    copy = Copy.make(tmp_path / "copy", small)
    assert not (copy.root / "notes.txt").exists()
    assert copy.first_failure(["test_add.py"]) == ""
    for after, killer in (("a - b", "test_add.py::test_a_sum"), ("b + a", "")):
        with copy.mutated(Mutation("another sum", "cub/__init__.py", "a + b", after, ())):
            assert copy.first_failure(["test_add.py"]) == killer
            assert copy.first_failure(["test_add.py::test_no_sum"]) == ""
        assert (copy.root / "cub/__init__.py").read_text() == _SOURCE


@pytest.mark.thorough
def test_tests_that_can_not_run_tell_nothing(small: Path, tmp_path: Path) -> None:
    copy = Copy.make(tmp_path / "copy", small)
    with pytest.raises(BrokenCopyError, match="no_such_test"):
        copy.first_failure(["test_add.py::no_such_test"])
