"""What GitHub, pre-commit and editors read in this repository agrees with the code."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tomllib
from configparser import ConfigParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet

from cub.config_edit.config_text import parse_config_text
from tests.conftest import list_checkout

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_MAYBE = re.compile(r"\d\.\d+")


def loaded(path: str) -> Any:
    """A YAML file; a key that stands twice is an error."""
    return parse_config_text((ROOT / path).read_bytes(), path).python_value


def jobs() -> dict[str, Any]:
    found = loaded(".github/workflows/ci.yml")["jobs"]
    assert isinstance(found, dict)
    return found


def steps() -> list[dict[str, Any]]:
    return [step for job in jobs().values() for step in job["steps"]]


def tracked() -> list[str]:
    """The files of the repository, those included that are new."""
    try:
        return [name for name in list_checkout(ROOT) if (ROOT / name).is_file()]
    except subprocess.CalledProcessError:
        pytest.skip("needs a git checkout")


@pytest.mark.parametrize("path", [".pre-commit-config.yaml", ".pre-commit-hooks.yaml"])
def test_each_hook_says_what_it_runs(path: str) -> None:
    tree = loaded(path)
    hooks = tree if isinstance(tree, list) else [h for r in tree["repos"] for h in r["hooks"]]
    assert len({hook["id"] for hook in hooks}) == len(hooks) > 0
    assert all({"id", "name", "entry", "language"} <= hook.keys() for hook in hooks)


def test_hooks_of_this_repository_run_tools_of_its_environment() -> None:
    (local,) = loaded(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    dev = [re.split(r"[<>=]", one)[0] for one in PROJECT["optional-dependencies"]["dev"]]
    for hook in local["hooks"]:
        program = Path(shlex.split(hook["entry"])[0])
        assert hook["language"] == "system"
        assert program.parent == Path(".venv/bin")
        assert program.name in [*dev, *PROJECT["scripts"]]


def test_ci_runs_on_the_pythons_of_the_package() -> None:
    pythons: list[str] = jobs()["fast"]["strategy"]["matrix"]["python"]
    minors = [int(version.partition(".")[2]) for version in pythons]
    assert minors == list(range(minors[0], minors[-1] + 1))
    asked = SpecifierSet(PROJECT["requires-python"])
    assert all(asked.contains(version) for version in pythons)
    assert not asked.contains(f"3.{minors[0] - 1}")
    named = {version for line in PROJECT["classifiers"] for version in _MAYBE.findall(line)}
    assert named <= set(pythons)
    script = (ROOT / ".ci" / "release").read_text(encoding="utf-8")
    assert f"pythons=({' '.join(pythons)})" in script
    others = {step["with"]["python-version"] for step in steps() if "with" in step}
    assert others - set(pythons) == {"${{ matrix.python }}"}


def test_ci_runs_on_linux_and_macos_in_both_tiers() -> None:
    for name in ("fast", "thorough"):
        assert jobs()[name]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
        assert jobs()[name]["runs-on"] == "${{ matrix.os }}"


def test_ci_may_read_and_no_more() -> None:
    assert loaded(".github/workflows/ci.yml")["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs().items() if "permissions" in job] == []


@pytest.mark.parametrize(
    "step", [step for step in steps() if "run" in step], ids=lambda s: s["run"]
)
def test_what_ci_runs_exists(step: dict[str, Any]) -> None:
    (line,) = step["run"].splitlines()
    program, *words = shlex.split(line)
    if program == "python":
        assert words[0] == "-m"
        assert find_spec(words[1])
        extras = [extra for word in words for extra in re.findall(r"^\.\[(\w+)\]$", word)]
        assert [extra for extra in extras if extra not in PROJECT["optional-dependencies"]] == []
    else:
        assert os.access(ROOT / program, os.X_OK)
    assert [path for path in step.get("env", {}).values() if not (ROOT / path).exists()] == []


def test_ci_caches_by_files_that_are_there() -> None:
    named = [step["with"]["cache-dependency-path"] for step in steps() if "with" in step]
    paths = [path for text in named for path in text.split()]
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert paths


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_an_issue_form_is_one(name: str) -> None:
    form = loaded(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form.keys() == {"name", "description", "labels", "body"}
    parts = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert {part["type"] for part in form["body"]} <= parts
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked) > 0
    assert all(part["attributes"]["label"] for part in asked)


def test_there_are_no_other_files_for_github() -> None:
    """A misspelled name would have no effect, and nobody would notice."""
    found = {path.relative_to(GITHUB).as_posix() for path in GITHUB.rglob("*") if path.is_file()}
    assert found == {
        "ISSUE_TEMPLATE/bug.yml",
        "ISSUE_TEMPLATE/config.yml",
        "ISSUE_TEMPLATE/feature.yml",
        "pull_request_template.md",
        "workflows/ci.yml",
    }
    assert loaded(".github/ISSUE_TEMPLATE/config.yml") == {"blank_issues_enabled": True}


def test_files_are_as_the_editors_are_told() -> None:
    told = ConfigParser()
    told.read_string("[root]\n" + (ROOT / ".editorconfig").read_text(encoding="utf-8"))
    assert dict(told["*"]) == {
        "charset": "utf-8",
        "end_of_line": "lf",
        "indent_style": "space",
        "indent_size": "2",
        "insert_final_newline": "true",
        "trim_trailing_whitespace": "true",
    }
    assert set(told["golden/**"].values()) == {"unset"}
    odd = [name for name in tracked() if not name.startswith("golden/") and _is_odd(ROOT / name)]
    assert odd == []


def _is_odd(file: Path) -> bool:
    """Whether a file is other than `.editorconfig` says."""
    data = file.read_bytes()
    data.decode("utf-8")
    is_ended = data == b"" or data.endswith(b"\n")
    return not is_ended or bool(re.search(rb"\A\xef\xbb\xbf|\r|[ \t]$|^\t", data, re.MULTILINE))
