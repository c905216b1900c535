"""The same work by mini-swe-agent and by `cub code` leads to the same files.

CUB_MINI_SWE_AGENT names a Python that has mini-swe-agent.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agent.peer_tasks import BASH_TASKS, FILES, TOOL_TASKS, bash
from tests.conftest import Cub
from tests.written_files import write_files

_MINI = """\
import json, sys
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.test_models import DeterministicModel, make_output

DONE = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
for folder, replies in json.load(open(sys.argv[1])).items():
    outputs = [make_output("", [{"command": line} for line in one]) for one in [*replies, [DONE]]]
    model = DeterministicModel(outputs=outputs, cost_per_call=0.0)
    templates = {"system_template": "s", "instance_template": "{{task}}"}
    agent = DefaultAgent(model, LocalEnvironment(cwd=folder), cost_limit=0, **templates)
    assert agent.run("Do it.")["exit_status"] == "Submitted"
"""
Replies = Sequence[Sequence[tuple[str, Mapping[str, Any]]]]


def read_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Each file with its mode and bytes; of a link, its target; of git, that it is there."""
    found = dict[str, tuple[int, bytes]]()
    for path in folder.rglob("*"):
        name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
        if path.is_symlink():
            found[name] = (mode, bytes(path.readlink()))
        elif path.is_dir():
            found[f"{name}/"] = (mode, b"")
        elif not name.startswith(".git/"):
            found[name] = (mode, path.read_bytes())
    return {name: file for name, file in found.items() if not name.startswith(".git/")}


def make_folders(root: Path, count: int) -> list[Path]:
    """Folders with the same files, one for each task."""
    folders = [root / str(number) for number in range(count)]
    for folder in folders:
        write_files(folder, FILES)
    return folders


def run_mini_swe_agent(
    tasks: Sequence[Sequence[Sequence[str]]], root: Path, home: Path
) -> list[Path]:
    """Play the commands of each task in a folder of its own. Skips the test if it can't."""
    python = os.environ.get("CUB_MINI_SWE_AGENT")
    if python is None:
        pytest.skip("CUB_MINI_SWE_AGENT is not set")
    folders = make_folders(root, len(tasks))
    job = root / "job.json"
    job.write_text(json.dumps(dict(zip(map(str, folders), tasks, strict=True))))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MSWEA_SILENT_STARTUP": "1",
    }
    subprocess.run([python, "-c", _MINI, str(job)], check=True, env=environ, capture_output=True)
    return folders


def compare_files(
    tasks: Mapping[str, Replies], expected: Sequence[Path], root: Path, cub: Cub
) -> None:
    """Play the calls of each task to `cub code`, and compare the folders in the end."""
    script = root / "replies.json"
    unchanged = read_files(make_folders(root / "unchanged", 1)[0])
    folders = make_folders(root / "cub", len(tasks))
    for folder, other, (name, replies) in zip(folders, expected, tasks.items(), strict=True):
        calls = [{"calls": [{tool: values} for tool, values in one]} for one in replies]
        script.write_text(json.dumps({"conversations": [{"replies": [*calls, {"text": "Done."}]}]}))
        done = cub(
            "-C", str(folder), "code", "-p", "Do it.", "--model", f"scripted/{script}",
            "--permissions", "bypass", PYTHONDONTWRITEBYTECODE="1",
        )  # fmt: skip
        assert (done.code, done.out) == (0, "Done.\n"), (name, done.err)
        assert (name, read_files(folder)) == (name, read_files(other))
        assert (name, read_files(folder)) != (name, unchanged)


@pytest.mark.thorough
def test_the_same_commands_lead_to_the_same_files_as_with_mini_swe_agent(
    tmp_path: Path, home: Path, cub: Cub
) -> None:
    expected = run_mini_swe_agent([*BASH_TASKS.values()], tmp_path / "mini", home)
    tasks = {
        name: [[bash(line) for line in one] for one in replies]
        for name, replies in BASH_TASKS.items()
    }
    compare_files(tasks, expected, tmp_path, cub)


@pytest.mark.thorough
def test_the_tools_for_files_lead_to_the_same_files_as_commands_of_mini_swe_agent(
    tmp_path: Path, home: Path, cub: Cub
) -> None:
    commands = [[[line] for line in task.commands] for task in TOOL_TASKS.values()]
    expected = run_mini_swe_agent(commands, tmp_path / "mini", home)
    tasks = {name: task.replies for name, task in TOOL_TASKS.items()}
    compare_files(tasks, expected, tmp_path, cub)
