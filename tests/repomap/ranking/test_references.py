"""What a path says of how others import the file."""

from __future__ import annotations

import pytest

from cub.repomap.ranking.references import list_import_roots, parse_module_path


@pytest.mark.parametrize(
    ("path", "words", "name", "face", "depth"),
    [
        ("oven.py", "oven", "oven", False, 0),
        ("kiln/oven.py", "kiln oven", "oven", False, 1),
        ("a/kiln/oven.py", "kiln oven", "oven", False, 2),
        ("kiln/__init__.py", "kiln", "kiln", True, 1),
        ("kiln/index.ts", "kiln", "kiln", True, 1),
        ("kiln/mod.rs", "kiln", "kiln", True, 1),
        ("src/lib.rs", "", "", True, 0),
        ("src/kiln.rs", "kiln", "kiln", False, 0),
        ("src/main/java/kiln/Oven.java", "Oven kiln", "Oven", False, 1),
        ("__init__.py", "", "", True, 0),
        ("kiln/app.py", "kiln", "", False, 1),
        ("kiln/oven.test.ts", "kiln oven.test", "oven.test", False, 1),
    ],
)
def test_a_file_is_imported_by_its_name_or_that_of_its_folder(
    path: str, words: str, name: str, face: bool, depth: int
) -> None:
    module = parse_module_path(path)
    assert (module.import_names, module.name) == (frozenset(words.split()), name)
    assert (module.is_index, module.depth, module.folder) == (face, depth, path.rpartition("/")[0])


def test_an_import_can_begin_with_any_folder_or_file() -> None:
    assert list_import_roots(["src/kiln/oven.test.py", "a.py", ".x/y"]) == {
        "src", "kiln", "oven", "a", ".x", "y",
    }  # fmt: skip
