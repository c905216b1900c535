"""The same replies to mini-swe-agent and to `cub code` lead to the same files.

CUB_MINI_SWE_AGENT names a Python that has mini-swe-agent.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Cub
from tests.written_files import write_files

# Each reply has some commands; a task has some replies.
_TASKS: dict[str, Sequence[Sequence[str]]] = {
    "a new file": [["echo hello > a.txt"]],
    "an edit in place": [["sed 's/PRICE = 1/PRICE = 2/' price.py > new && mv new price.py"]],
    "a line at the end": [["printf 'TAX = 3\\n' >> price.py"]],
    "a file is deleted": [["rm docs/old.md"]],
    "a file is moved": [["mkdir -p lib && mv price.py lib/price.py"]],
    "folders are made": [["mkdir -p a/b/c && echo x > a/b/c/d"]],
    "a heredoc": [["cat > run.sh <<'END'\n#!/bin/sh\necho \"$HOME\" '$x' `date`\nEND"]],
    "a file becomes executable": [["echo 'exit 3' > run.sh", "chmod +x run.sh"]],
    "a link": [["ln -s price.py link.py"]],
    "several commands of a reply in order": [["echo 1 > n", "echo 2 >> n", "echo 3 >> n"]],
    "several replies": [["ls > list.txt"], ["wc -l < list.txt > count.txt"], ["rm list.txt"]],
    "a command that fails": [["false"], ["cat none && echo never > never.txt"], ["echo a > a"]],
    "a later command goes on after one that fails": [["exit 7", "echo a > a.txt"]],
    "a folder does not last": [["cd docs", "test -d docs && echo root > root.txt"]],
    "a variable does not last": [["WORD=a; export WORD"], ['echo "[$WORD]" > word.txt']],
    "letters of other scripts": [["printf 'größer \\346\\227\\245\\n' > 'ü ö.txt'"]],
    "bytes that are not UTF-8": [["printf '\\377\\000\\376' > bytes.bin; cat bytes.bin"]],
    "a program of the project": [["python3 -c 'import price; print(price.PRICE + 1)' > out.txt"]],
    "a long output": [["seq 100000 | tee long.txt"], ["tail -n 1 long.txt > last.txt"]],
    "a pipeline over all files": [["find . -type f | sort | xargs cat > all.out"], ["rm -r docs"]],
}  # fmt: skip
_FILES = {"price.py": "PRICE = 1\n", "docs/old.md": "# Old\n", "docs/new.md": "# New\n"}
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


def read_files(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Each file with its mode and bytes; of a link, its target."""
    return {
        path.relative_to(folder).as_posix(): (
            path.lstat().st_mode,
            bytes(path.readlink()) if path.is_symlink() else path.read_bytes(),
        )
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    } | {
        f"{path.relative_to(folder).as_posix()}/": (0, b"")
        for path in folder.rglob("*")
        if path.is_dir()
    }


def make_folders(root: Path) -> list[Path]:
    """A folder with the same files for each task."""
    folders = [root / str(number) for number in range(len(_TASKS))]
    for folder in folders:
        write_files(folder, _FILES)
    return folders


def run_mini_swe_agent(python: str, root: Path, home: Path) -> list[Path]:
    folders = make_folders(root)
    job = root / "job.json"
    job.write_text(json.dumps(dict(zip(map(str, folders), _TASKS.values(), strict=True))))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MSWEA_SILENT_STARTUP": "1",
    }
    subprocess.run([python, "-c", _MINI, str(job)], check=True, env=environ, capture_output=True)
    return folders


@pytest.mark.thorough
def test_the_same_replies_lead_to_the_same_files_as_with_mini_swe_agent(
    tmp_path: Path, home: Path, cub: Cub
) -> None:
    python = os.environ.get("CUB_MINI_SWE_AGENT")
    if python is None:
        pytest.skip("CUB_MINI_SWE_AGENT is not set")
    expected = run_mini_swe_agent(python, tmp_path / "mini", home)
    script = tmp_path / "replies.json"
    unchanged = read_files(make_folders(tmp_path / "unchanged")[0])
    for folder, other, (name, replies) in zip(
        make_folders(tmp_path / "cub"), expected, _TASKS.items(), strict=True
    ):
        calls = [{"calls": [{"Bash": {"command": line}} for line in one]} for one in replies]
        script.write_text(json.dumps({"conversations": [{"replies": [*calls, {"text": "Done."}]}]}))
        done = cub(
            "-C", str(folder), "code", "-p", "Do it.", "--model", f"scripted/{script}",
            "--permissions", "bypass", PYTHONDONTWRITEBYTECODE="1",
        )  # fmt: skip
        assert (done.code, done.out) == (0, "Done.\n"), (name, done.err)
        assert (name, read_files(folder)) == (name, read_files(other))
        assert (name, read_files(folder)) != (name, unchanged)
