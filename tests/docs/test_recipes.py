"""The recipes for CI in the how-to pages: their scripts, run as CI would run them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cub.config_edit.config_text import parse_config_text
from tests.conftest import Cub, environment, git
from tests.docs.pages import DOCS, recipe
from tests.fork_server import get_cub_command

EVENT = {
    "github.base_ref": "main",
    "github.repository": "ada/bakery",
    "github.event.number": "7",
    "github.token": "secret",
}
# Stands in for pip and gh: says what it was called with, and keeps the body of a comment.
DOUBLE = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in
  *--jq*) test ! -e "$CALLS.id" || cat "$CALLS.id" ;;
  *body=@*) cp review.md "$CALLS.body" ;;
esac
"""

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="CI has a bash")


def filled(text: str) -> str:
    """A string of a workflow with the values of the event in place of its expressions."""
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: EVENT[found[1]], text)


@dataclass(frozen=True, slots=True)
class Runner:
    """A machine of CI: the checked out `folder`, and what was called there."""

    folder: Path
    home: Path

    @property
    def calls(self) -> list[str]:
        return (self.home / "calls").read_text().splitlines()

    @property
    def comment(self) -> str:
        return (self.home / "calls.body").read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        return (self.home / "summary").read_text(encoding="utf-8")

    def run(self, script: str, **variables: str) -> int:
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env={
                **environment(self.home),
                "PATH": f"{self.home / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "CALLS": str(self.home / "calls"),
                "GITHUB_STEP_SUMMARY": str(self.home / "summary"),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return done.returncode

    def job(self, job: Any) -> dict[str, int]:
        """The exit code of each script of a workflow's job, by the step's name or its words."""
        codes = {}
        for step in job["steps"]:
            if script := step.get("run"):
                variables = {**job.get("env", {}), **step.get("env", {})}
                given = {name: filled(value) for name, value in variables.items()}
                codes[step.get("name", script)] = self.run(filled(script), **given)
        return codes


@pytest.fixture
def runner(project: Path, tmp_path: Path, home: Path, cub: Cub) -> Runner:
    """A clone of a project with cub and a branch `prices`, which is checked out."""
    (project / "AGENTS.md").write_text("# Bakery\n")
    cub("init")
    git(project, "checkout", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "Add cub")
    git(project, "clone", "-q", str(project), str(tmp_path / "clone"))
    folder = home / "bin"
    folder.mkdir()
    doubles = dict.fromkeys(("pip", "gh"), DOUBLE)
    doubles["cub"] = f'#!/bin/sh\nexec {shlex.join(get_cub_command())} "$@"\n'
    for name, script in doubles.items():
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return Runner(tmp_path / "clone", home)


def change(runner: Runner, old: str, new: str) -> None:
    agents = runner.folder / "AGENTS.md"
    agents.write_text(agents.read_text().replace(old, new))
    git(runner.folder, "checkout", "-q", "-b", "prices")
    git(runner.folder, "commit", "-q", "-a", "-m", "Change")


def test_a_change_of_a_person_s_own_text_passes(runner: Runner) -> None:
    change(runner, "# Bakery\n", "# Bakery\n\nPrices are in cents.\n")
    job = recipe("review.md", ".github/workflows/instructions.yml")["jobs"]["review"]
    assert runner.job(job) == {'pip install "$CUB"': 0, "Review": 0, "Comment": 0}
    assert "+Prices are in cents." in runner.summary
    assert runner.comment == runner.summary
    assert runner.calls[0] == f"pip install {job['env']['CUB']}"
    assert runner.calls[-1].endswith("repos/ada/bakery/issues/7/comments -F body=@review.md")


def test_a_touched_section_fails_and_is_told_all_the_same(runner: Runner) -> None:
    change(runner, "- Claim:", "- Never claim:")
    (runner.home / "calls.id").write_text("31\n")
    job = recipe("review.md", ".github/workflows/instructions.yml")["jobs"]["review"]
    assert runner.job(job) == {'pip install "$CUB"': 0, "Review": 1, "Comment": 0}
    assert "edited manually" in runner.summary
    assert runner.comment == runner.summary
    assert "-X PATCH repos/ada/bakery/issues/comments/31 -F" in runner.calls[-1]


def test_a_review_sees_history_and_no_more_than_it_needs() -> None:
    workflow = recipe("review.md", ".github/workflows/instructions.yml")
    checkout = workflow["jobs"]["review"]["steps"][0]["with"]
    assert checkout == {"fetch-depth": 0, "persist-credentials": False}
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    scripts = [step["run"] for step in workflow["jobs"]["review"]["steps"] if "run" in step]
    assert not any("${{" in script for script in scripts)


@pytest.mark.parametrize(("new", "code"), [("- Claim:", 0), ("- Never claim:", 1)])
def test_the_check_on_github_and_gitlab(runner: Runner, new: str, code: int) -> None:
    agents = runner.folder / "AGENTS.md"
    agents.write_text(agents.read_text().replace("- Claim:", new))
    job = recipe("ci.md", ".github/workflows/cub.yml")["jobs"]["check"]
    assert runner.job(job) == {'pip install "$CUB"': 0, "cub update --check": code}
    job = recipe("ci.md", ".gitlab-ci.yml")["cub"]
    assert runner.run("\n".join(job["script"]), **job["variables"]) == code


def test_the_review_on_gitlab(runner: Runner) -> None:
    base = git(runner.folder, "rev-parse", "HEAD").strip()
    change(runner, "# Bakery\n", "# Bakery\n\nPrices are in cents.\n")
    job = recipe("review.md", ".gitlab-ci.yml")["instruction files"]
    given = {**job["variables"], "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
    assert runner.run("\n".join(job["script"]), **given) == 0
    for path in job["artifacts"]["paths"]:
        assert "+Prices are in cents." in (runner.folder / path).read_text(encoding="utf-8")


def test_the_hooks_are_the_ones_that_the_repository_offers() -> None:
    hooks = (DOCS.parent / ".pre-commit-hooks.yaml").read_bytes()
    offered = parse_config_text(hooks, "").python_value
    told = recipe("ci.md", ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert told
    assert {hook["id"] for hook in told} <= {hook["id"] for hook in offered}
