"""What is kept of files between runs, and what a damaged or foreign cache costs: nothing."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.listing.file_listing import ListedFile
from cub.repomap.symbols.file_facts import (
    Definition,
    FileFacts,
    ScanJob,
    load_facts_cache,
    save_facts_cache,
)
from tests.examples import few_examples

FACTS = FileFacts("a b", "b", (Definition("a", "function", 3, "def a(ü)", "", True),))
texts = st.text(max_size=20)
facts = st.builds(
    FileFacts,
    texts,
    texts,
    st.lists(
        st.builds(Definition, texts, st.just("class"), st.integers(0), texts, texts, st.booleans())
    ).map(tuple),
    texts,
    texts,
)


def job(path: str = "a.py") -> ScanJob:
    return ScanJob(ListedFile(path, 1, 2, 3), "python", True)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    saved = {job(): FACTS, job("b.py"): FACTS._replace(names="c")}
    save_facts_cache(tmp_path / "c/facts", "v", saved)
    assert load_facts_cache(tmp_path / "c/facts", "v") == saved


def test_a_path_that_is_no_text_survives(tmp_path: Path) -> None:
    odd = {job("x/\udc80\ny.py"): FACTS}
    save_facts_cache(tmp_path / "facts", "v", odd)
    assert load_facts_cache(tmp_path / "facts", "v") == odd


@few_examples
@given(facts)
def test_facts_survive_the_cache(found: FileFacts) -> None:
    with TemporaryDirectory() as folder:
        save_facts_cache(Path(folder) / "facts", "v", {job(): found})
        assert load_facts_cache(Path(folder) / "facts", "v") == {job(): found}


def test_another_version_has_nothing(tmp_path: Path) -> None:
    save_facts_cache(tmp_path / "facts", "v1", {job(): FACTS})
    assert load_facts_cache(tmp_path / "facts", "v2") == {}


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"\0\xff", b"[", b"{}\n", b'["v"]\n[1]\n', b'["v"]\nnull\n',
        b'["v"]\n' + b"[" * 10_000,
        b'["v"]\n["a",1,2,3,"python",true,"","",[["a",1,2,3,4,5]],"",""]\n',
        b'["v"]\n["a",1,2,3,"python",true,"",""',
    ],
)  # fmt: skip
def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "facts").write_bytes(damage)
    assert load_facts_cache(tmp_path / "facts", "v") == {}


def test_the_cache_keeps_itself_out_of_git_and_leaves_no_other_file(tmp_path: Path) -> None:
    save_facts_cache(tmp_path / "cache/facts", "v", {job(): FACTS})
    save_facts_cache(tmp_path / "cache/facts", "v", {job(): FACTS})
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == [".gitignore", "facts"]
    assert (tmp_path / "cache/.gitignore").read_bytes() == b"*\n"


def test_where_nothing_can_be_written_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    save_facts_cache(tmp_path / "file/cache/facts", "v", {job(): FACTS})
    assert load_facts_cache(tmp_path / "file/cache/facts", "v") == {}
