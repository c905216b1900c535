"""How long a map is: never longer than it may be, and short only where all is said.

CUB_CHECKOUTS names a folder with checkouts of other projects, to be measured as well.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from cub.repomap.build import MapContext, build_repo_map
from cub.repomap.map_types import MapSettings
from cub.repomap.render.map_body import render_map_body
from cub.repomap.repo_map import RepoMap
from cub.tokens import estimate_tokens
from tests.examples import keep_few
from tests.repomap.archives import Archive, archives, unpacked
from tests.repomap.maps import told, whole_map

BUDGETS = [200, 260, 340, 450, 600, 800, 1000, 1500, 2200, 3300, 5000, 8000]
ENOUGH = 0.85
HEADER = 44  # tokens
HERE = Path(__file__).parents[2]


def checkouts() -> list[Path]:
    folder = os.environ.get("CUB_CHECKOUTS")
    others = Path(folder).iterdir() if folder else ()
    return [HERE, *sorted(path for path in others if path.is_dir())]


@cache
def known(root: Path, cache_folder: Path) -> RepoMap:
    return build_repo_map(MapContext(root, cache_folder), MapSettings(1500))


def assert_well_filled(found: RepoMap, tokens: int) -> None:
    """Within the budget, and all is said where much of it is left.

    All is said if a far larger budget gives the same text.
    """
    text = render_map_body(found, tokens, HEADER)
    size = estimate_tokens(text) + HEADER
    assert size <= tokens
    assert size >= ENOUGH * tokens or text == render_map_body(found, 1_000_000, HEADER)


@pytest.mark.parametrize("archive", keep_few(archives(), 6), ids=lambda archive: archive.name)
def test_the_header_tells_the_length_and_the_length_is_in_the_budget(
    archive: Archive, tmp_path: Path
) -> None:
    root = unpacked(archive, tmp_path / archive.name)
    for tokens in BUDGETS:
        text = whole_map(root, tokens)
        assert told(text) == (estimate_tokens(text), tokens)
        assert estimate_tokens(text) <= tokens


@pytest.mark.parametrize("archive", archives(), ids=lambda archive: archive.name)
def test_a_budget_is_used_as_long_as_there_is_something_to_say(
    archive: Archive, tmp_path: Path
) -> None:
    found = known(unpacked(archive, tmp_path / archive.name), tmp_path / "cache")
    for tokens in BUDGETS:
        assert_well_filled(found, tokens)


@pytest.mark.thorough
@pytest.mark.parametrize("tokens", BUDGETS)
@pytest.mark.parametrize("root", checkouts(), ids=lambda root: root.name)
def test_a_large_project_fills_every_budget(
    root: Path, tokens: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_well_filled(known(root, tmp_path_factory.getbasetemp() / "cache" / root.name), tokens)


@pytest.mark.parametrize("archive", archives(), ids=lambda archive: archive.name)
def test_a_larger_budget_says_no_less(archive: Archive, tmp_path: Path) -> None:
    found = known(unpacked(archive, tmp_path / archive.name), tmp_path / "cache")
    sizes = [estimate_tokens(render_map_body(found, tokens, HEADER)) for tokens in BUDGETS]
    assert sizes == sorted(sizes)
