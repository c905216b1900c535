"""The steps of a map, as they are told to whoever shows them."""

from __future__ import annotations

import os
from itertools import groupby
from pathlib import Path

from cub.actions.project_map import MapOptions, render_map_file
from cub.project.project import Project
from cub.repomap.map_types import STEP_LISTING, STEP_READING, STEP_RENDERING


def test_each_step_is_told_from_its_begin_to_its_end(tmp_path: Path) -> None:
    (tmp_path / ".cub").mkdir()
    for number in range(3):
        file = tmp_path / f"f{number}.py"
        file.write_text(f"def f{number}():\n    return {number}\n")
        os.utime(file, (1, 1))  # what has changed just now may change again unnoticed
    told: list[tuple[int, int, str]] = []

    def progress(done: int, total: int, step: str) -> None:
        told.append((done, total, step))

    wanted = MapOptions(progress=progress)
    made = render_map_file(Project.load(tmp_path), wanted)
    steps = [(step, list(calls)) for step, calls in groupby(told, lambda call: call[2])]
    assert [step for step, _ in steps] == [STEP_LISTING, STEP_READING, STEP_RENDERING]
    for _, calls in steps:
        assert calls[0][0] == 0
        assert calls[-1][0] == calls[-1][1]
    told.clear()
    assert render_map_file(Project.load(tmp_path), wanted) == made
    assert {step for *_, step in told} == {STEP_LISTING}
