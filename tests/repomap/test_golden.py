"""Maps of small projects, one a stack: golden/repomap/<name>/ has the project and its map."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_regressions.file_regression import FileRegressionFixture

from tests.repomap.archives import FOLDER, Archive, archives, unpacked
from tests.repomap.maps import whole_map


@pytest.mark.parametrize("archive", archives(), ids=lambda archive: archive.name)
def test_the_map_of_a_small_project(
    archive: Archive, tmp_path: Path, file_regression: FileRegressionFixture
) -> None:
    text = whole_map(unpacked(archive, tmp_path / archive.name), archive.tokens)
    file_regression.check(text, encoding="utf-8", fullpath=FOLDER / archive.name / "map.md")
