from __future__ import annotations

from pathlib import Path

import pytest

from cub.errors import CubError
from cub.store.store_paths import find_store_root


def test_a_project_has_its_stores_at_its_root(project: Path) -> None:
    assert find_store_root(project, {}) == project


def test_the_variable_names_the_store(project: Path, tmp_path: Path) -> None:
    assert find_store_root(project, {"CUB_ROOT": str(tmp_path)}) == tmp_path.resolve()
    assert find_store_root(project, {"CUB_ROOT": f"{tmp_path}/x/.."}) == tmp_path.resolve()
    assert find_store_root(project, {"CUB_ROOT": ""}) == project


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_variable_that_names_no_folder_is_an_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(CubError, match="CUB_ROOT is not a directory") as error:
        find_store_root(tmp_path, {"CUB_ROOT": str(tmp_path / name)})
    assert error.value.hint == "unset CUB_ROOT"
