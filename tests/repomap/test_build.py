"""When a map is made anew, and when the last one is still right: told by what is read."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.files.internal_files import CacheWrite
from cub.repomap.build import (
    MAP_CACHE_FILE,
    MapContext,
    MapText,
    build_map_text,
    build_repo_map,
)
from cub.repomap.map_types import MapOmission, MapSettings
from tests.examples import hardly_any_examples
from tests.repomap.archives import write

SETTINGS = MapSettings(1500)


@pytest.fixture
def shop(tmp_path: Path) -> MapContext:
    root = tmp_path / "project"
    write(root / "README.md", b"# Oven\n\nIt bakes bread for all.\n")
    write(root / "src/oven.py", b"def heat(): ...\n")
    return MapContext(root, tmp_path / "cache")


def made(shop: MapContext, settings: MapSettings = SETTINGS, header: int = 40) -> MapText:
    return build_map_text(shop, settings, header)


def pretend(shop: MapContext) -> None:
    """Another README in the same state: the map has its words only if it is made anew."""
    path = shop.root / "README.md"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"bread", b"rolls"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def is_new(shop: MapContext, settings: MapSettings = SETTINGS, header: int = 40) -> bool:
    return "rolls" in made(shop, settings, header).text


def test_where_nothing_changed_the_last_text_is_told_and_no_file_read(shop: MapContext) -> None:
    first = made(shop)
    pretend(shop)
    assert made(shop) == first


@pytest.mark.parametrize(
    ("settings", "header"),
    [
        (MapSettings(1600), 40),
        (MapSettings(1500, ("*.txt",)), 40),
        (MapSettings(1500, symbols=False), 40),
        (SETTINGS, 41),
    ],
)
def test_other_settings_or_another_header_make_it_anew(
    shop: MapContext, settings: MapSettings, header: int
) -> None:
    made(shop)
    pretend(shop)
    assert is_new(shop, settings, header)


def test_a_new_a_deleted_and_a_renamed_file_make_it_anew(shop: MapContext) -> None:
    made(shop)
    pretend(shop)
    write(shop.root / "notes.txt", b"")
    assert is_new(shop)
    (shop.root / "src/oven.py").rename(shop.root / "src/kiln.py")
    assert "src/kiln.py" in made(shop).text
    (shop.root / "src/kiln.py").unlink()
    assert "heat" not in made(shop).text


def test_a_file_that_is_about_to_go_is_gone(shop: MapContext) -> None:
    made(shop)
    assert "heat" not in made(shop._replace(deleted_paths=["src/oven.py"])).text
    assert "heat" in made(shop).text


def test_a_map_of_files_that_have_just_changed_is_not_kept(shop: MapContext) -> None:
    ahead = (time.time_ns() + 10**12,) * 2
    os.utime(shop.root / "README.md", ns=ahead)
    made(shop)
    pretend(shop)
    assert is_new(shop)
    assert not (shop.cache_folder / MAP_CACHE_FILE).exists()


def test_notes_are_told_again_with_the_last_text(shop: MapContext) -> None:
    write(shop.root / "bad.py", b"\0")
    notes = (MapOmission("bad.py", "binary"),)
    assert made(shop).omissions == notes
    pretend(shop)
    assert not is_new(shop)
    assert made(shop).omissions == notes


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 5_000, b'["k","t",[1]]', b"7"]
)
def test_a_damaged_cache_is_none(shop: MapContext, damage: bytes) -> None:
    first = made(shop)
    for path in shop.cache_folder.glob("*.json*"):
        path.write_bytes(damage)
    assert made(shop) == first


def test_a_cache_of_another_project_is_none(shop: MapContext, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(other / "README.md", b"# Till\n\nIt counts coins for all.\n")
    made(shop)
    assert "coins" in made(shop._replace(root=other)).text


def test_an_entry_that_names_no_version_of_the_code_is_not_believed(shop: MapContext) -> None:
    made(shop)
    row = json.loads((shop.cache_folder / MAP_CACHE_FILE).read_bytes())
    row[0] = "0" * 64
    (shop.cache_folder / MAP_CACHE_FILE).write_text(json.dumps(row))
    pretend(shop)
    assert is_new(shop)


def test_where_there_is_nothing_to_say_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    shop = MapContext(tmp_path / "project", tmp_path / "cache")
    assert made(shop) == MapText("", ())
    assert not shop.cache_folder.exists()


def test_writes_are_left_to_whom_they_are_given(shop: MapContext) -> None:
    writes: list[CacheWrite] = []
    made(shop._replace(write_cache=writes.append))
    assert not shop.cache_folder.exists()
    for write_it in writes:
        write_it()
    pretend(shop)
    assert not is_new(shop)


def test_a_cache_that_is_no_file_is_not_waited_for(shop: MapContext) -> None:
    shop.cache_folder.mkdir()
    for name in ("facts.jsonl", "map.json"):
        os.mkfifo(shop.cache_folder / name)
    assert "heat" in made(shop).text


def test_a_part_of_a_project_is_told_by_paths_of_its_own_and_excluded_by_the_whole_ones(
    shop: MapContext, tmp_path: Path
) -> None:
    write(shop.root / "src/deep/till.py", b"def count(): ...\n")
    part = MapContext(shop.root / "src", tmp_path / "part", parent_path="src/")
    assert "deep/till.py" in made(part).text
    assert "count" not in made(part, MapSettings(1500, ("src/deep/",))).text
    assert "count" in made(part, MapSettings(1500, ("/deep/",))).text


def test_the_full_map_knows_more_than_fits(shop: MapContext) -> None:
    full = build_repo_map(shop, MapSettings(100))
    assert [symbol.definition.name for symbol in full.symbols] == ["heat"]
    assert full.structure.summary == "It bakes bread for all."


FILES = {
    "pyproject.toml": '[project]\nname = "oven"\ndescription = "Bakes bread by itself."\n',
    "README.md": "# Oven\n",
    "oven/__init__.py": '"""Everything about ovens."""\nfrom oven.heat import Heater\n',
    "oven/heat.py": "class Heater:\n    def warm(self, degrees):\n        return degrees\n",
    "oven/cli.py": "from oven import Heater\n\ndef main():\n    Heater().warm(3)\n",
    "tests/test_heat.py": "from oven import Heater\n\ndef test_it():\n    assert Heater()\n",
}

words = st.sampled_from(
    [
        "Heater",
        "warm",
        "main",
        "cool",
        "def",
        "class",
        "import",
        "from",
        "oven",
        "#",
        "x",
        "(",
        ")",
        ":",
    ]
)
edits = st.lists(
    st.tuples(st.sampled_from(sorted(FILES)), st.lists(words, max_size=6).map(" ".join)), max_size=5
)


@hardly_any_examples  # each draws several maps
@given(edits)
def test_after_any_edits_the_map_is_the_one_made_anew(changes: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        root, cache = Path(folder) / "oven", Path(folder) / "cache"
        for path, text in FILES.items():
            write(root / path, text.encode())
        build_map_text(MapContext(root, cache), SETTINGS, 40)
        for number, (path, line) in enumerate(changes):
            write(root / path, f"{FILES[path]}{line}\n".encode(), 1_600_000_000 + number)
            again = build_map_text(MapContext(root, cache), SETTINGS, 40)
            assert again == build_map_text(
                MapContext(root, Path(folder) / f"new{number}"), SETTINGS, 40
            )
