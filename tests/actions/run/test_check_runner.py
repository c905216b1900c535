"""A check after an attempt, compared with the one before it, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cub.actions.run.check_runner import (
    NOT_RUN_EXIT_CODES,
    CheckResult,
    CheckRunner,
    identify_environment,
)
from cub.checks.failing_items import FailingItem
from cub.files.signed_state import find_state_folder
from cub.place.checkout import find_checkout
from cub.place.folder import PlaceFolder
from cub.place.place import Place
from cub.place.place_settings import PlaceSettings
from cub.place.walls import PlaceKind
from cub.processes.command import StopRequest, TimeLimits


@pytest.fixture
def checker(tmp_path: Path, home: Path) -> CheckRunner:
    assert find_state_folder().is_relative_to(home)
    return _checker(tmp_path)


FAILED = CheckResult(
    "make", 1, items=(FailingItem("test", "test_old", ""), FailingItem("test", "test_new", ""))
)


def _checker(folder: Path) -> CheckRunner:
    return CheckRunner(find_state_folder() / "checks", folder, {}, TimeLimits(), StopRequest())


def test_a_result_is_recalled_for_the_very_files_alone(
    checker: CheckRunner, tmp_path: Path
) -> None:
    checker.store_result("tree 1", FAILED)
    for one in (checker, _checker(tmp_path)):
        assert one.find_result("tree 1", "make") == FAILED
        assert one.find_result("tree 2", "make") is None
        assert one.find_result("tree 1", "make check") is None


def test_what_took_too_long_is_recalled_in_the_same_run_alone(
    checker: CheckRunner, tmp_path: Path
) -> None:
    check = CheckResult("make", None, cause="wall")
    checker.store_result("tree 1", check)
    assert checker.find_result("tree 1", "make") == check
    assert _checker(tmp_path).find_result("tree 1", "make") is None


@pytest.mark.parametrize("code", [1, *NOT_RUN_EXIT_CODES])
def test_what_could_not_run_is_never_recalled(checker: CheckRunner, code: int) -> None:
    """A missing pytest was reported for ever, although it had been installed since."""
    checker.store_result("tree 1", CheckResult("make", code, lacks_program=True))
    assert checker.find_result("tree 1", "make") is None


def test_a_result_holds_for_the_same_program_and_packages(tmp_path: Path, home: Path) -> None:
    packages = tmp_path / "venv" / "lib" / "python3.12" / "site-packages"
    tool = tmp_path / "venv" / "bin" / "baker"
    for folder in (packages, tool.parent, home):
        folder.mkdir(parents=True, exist_ok=True)
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    before = set[str]()
    changes = (
        lambda: None,
        (packages / "oven-1.0.dist-info").mkdir,
        lambda: tool.write_text("#!/bin/sh\nexit 1\n"),
        (tmp_path / "node_modules").mkdir,
    )
    for change in changes:
        change()
        facts = "\n".join(identify_environment("baker -q", tmp_path, {"PATH": str(tool.parent)}))
        assert facts not in before
        before.add(facts)
    again = identify_environment("baker -q", tmp_path, {"PATH": str(tool.parent)})
    assert "\n".join(again) in before
    other = identify_environment("baker -q", tmp_path, {"PATH": "/nowhere"})
    assert "\n".join(other) not in before


@pytest.mark.parametrize(
    ("output", "lacks"),
    [
        ("sh: 1: oven: not found", True),
        ("bash: line 1: oven: command not found", True),
        ("sh: 1: ./oven.sh: not found", False),
    ],
)
def test_the_program_that_is_missing_is_the_one_that_the_shell_names(
    checker: CheckRunner, project: Path, tmp_path: Path, output: str, *, lacks: bool
) -> None:
    kind = PlaceKind("aside", "none", "")
    settings = PlaceSettings(find_checkout(project), project, kind)
    place = Place(PlaceFolder(tmp_path / "place"), settings)
    place.open()
    check = checker.run_check(place, f"cd . && (echo '{output}' >&2; exit 127)", None)
    assert check.lacks_program is lacks


def test_a_check_that_was_stopped_is_not_recalled(checker: CheckRunner) -> None:
    checker.store_result("tree 1", CheckResult("make", None, cause="stopped"))
    assert checker.find_result("tree 1", "make") is None
