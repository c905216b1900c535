"""`cub demo`: a section that comes and goes, and a run that checks for itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import Cub


def test_a_run_breaks_a_test_is_told_so_and_mends_it(cub: Cub, home: Path) -> None:
    done = cub("demo")
    assert (done.code, done.err.count("error")) == (0, 1)  # the refusal that is shown
    _, _, run = done.out.partition("$ cub run --harness builtin")
    assert "checks_failed: test_gross.Prices.test_gross: AssertionError: 190.0 != 119" in run
    assert "Failure reason: checks_failed: `test_gross.Prices.test_gross`" in run
    assert re.search(r"ok: 2 files \+12 -0, commit [0-9a-f]{8}", run)
    log = run.partition("$ git log --oneline\n")[2].splitlines()[:3]
    assert [line.partition(" ")[2].partition("(")[0] for line in log] == [
        "chore", "task", "A shop with a test",
    ]  # fmt: skip
    assert run.rstrip().endswith("a patch is left.")
    assert not list(home.rglob("trust.json"))


@pytest.mark.thorough
def test_what_was_made_can_be_kept(cub: Cub, tmp_path: Path) -> None:
    done = cub("demo", "--keep", TMPDIR=str(tmp_path))
    (folder,) = tmp_path.glob("cub-demo-*")
    assert f"The scratch repository is in {folder.resolve().as_posix()}" in done.err
    assert (folder / "price.py").read_text().endswith("return cents * 119 // 100\n")


def test_without_git_the_first_part_is_shown(cub: Cub, tmp_path: Path) -> None:
    done = cub("demo", PATH=str(tmp_path))
    assert done.code == 0
    assert "needs git" in done.err
    assert "cub run" not in done.out
