"""CONTRIBUTING.md: its paths exist, its picture is import-linter's, and recipes lead to a result.

A recipe is followed in a copy of the repository, where only files that it names are changed.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import pytest

from cub.project.targets import TARGETS
from tests.command_line import run_program
from tests.conftest import environment, git

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`([^`]+)`")
_STEP = re.compile(r"^(\d+\.|-) (.*?)(?=^\d+\. |^- |^\S|\Z)", re.DOTALL | re.MULTILINE)
_BELOW = re.compile(r"(?:cub|docs|golden|migrations|templates|tests|\.ci|\.cub|\.github)/")
_AT_ROOT = re.compile(r"[\w.]+\.(?:md|toml)")
_ANY = re.compile(r"\bNNNN\b|NAME")  # stand for any number, any name


class Recipe(NamedTuple):
    """The files of each step, as patterns; those of other cases; and the command that checks."""

    steps: list[list[str]]
    others: list[str]
    check: list[str]

    def names(self, path: str) -> bool:
        """Whether a file may be changed."""
        patterns = [*(one for step in self.steps for one in step), *self.others]
        return any(fnmatchcase(path, pattern) for pattern in patterns)


def paths_in(text: str) -> Iterator[str]:
    """What the code of a text names in this repository, as patterns of paths from its root."""
    for span in _SPAN.findall(_FENCED.sub("", text)):
        for word in span.split():
            if _BELOW.match(word) or (_AT_ROOT.fullmatch(word) and "/" not in word):
                yield _ANY.sub("*", word).rstrip("/")


def recipe(title: str) -> Recipe:
    """The recipe below a heading."""
    text = TEXT.partition(f"\n### {title}\n")[2].partition("\n### ")[0]
    body, _, check = text.partition("\nCheck: ")
    always, _, others = body.partition("\nIf needed:\n")
    steps = [list(paths_in(step[2])) for step in _STEP.finditer(always)]
    named = [path for step in _STEP.finditer(others) for path in paths_in(step[2])]
    command = _SPAN.search(check)
    return Recipe(steps, named, command[1].split() if command else [])


TITLES = re.findall(r"^### (.+)$", TEXT.partition("\n## Recipes\n")[2], re.MULTILINE)


@pytest.mark.parametrize("path", sorted(set(paths_in(TEXT))))
def test_every_path_exists(path: str) -> None:
    there = any(ROOT.glob(path)) or path in {target.path for target in TARGETS}
    assert there or path == ".cub/config.yaml", "CONTRIBUTING.md names what is not there"


@pytest.mark.parametrize("title", TITLES)
def test_a_recipe_has_steps_and_a_check(title: str) -> None:
    found = recipe(title)
    assert len(found.steps) >= 3
    assert found.check[:3] == ["python", "-m", "pytest"]


def test_there_is_a_recipe_for_each_table() -> None:
    wanted = {
        "target file",
        "agent",
        "harness",
        "language",
        "manifest",
        "parser of a tool's output",
    }
    wanted |= {"setting", "template version", "migration", "error"}
    assert {title.partition(" ")[2] for title in TITLES} == wanted


def test_the_picture_has_the_layers_of_import_linter() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    )
    picture = TEXT.partition("```text\ncub/\n")[2].partition("```")[0]
    rows = [re.split(r" {2,}", line.strip())[0] for line in picture.splitlines()]
    assert [row for row in rows if row != "↓"] == [layer.replace("cub.", "") for layer in layers]


class Copy:
    """A copy of the repository, changed as a recipe says."""

    def __init__(self, title: str, folder: Path) -> None:
        self.recipe, self.root, self.home = recipe(title), folder / "copy", folder
        self.changed: set[str] = set()
        for name in ("cub", "docs", "golden/project", "migrations", "templates", "tests"):
            shutil.copytree(ROOT / name, self.root / name)  # and what is compiled: that saves time
        shutil.copy(ROOT / "pyproject.toml", self.root)

    def change(self, path: str) -> Path:
        """A file that is about to be changed; the recipe has to name it."""
        assert self.recipe.names(path), f"the recipe does not name {path}"
        self.changed.add(path)
        return self.root / path

    def add(self, path: str, behind: str, line: str) -> None:
        """Put a line behind the one line that begins like `behind`."""
        file = self.change(path)
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (place,) = (n for n, one in enumerate(lines) if one.startswith(behind))
        lines.insert(place + 1, f"{line}\n")
        file.write_text("".join(lines), encoding="utf-8")

    def run(self, *words: str, cwd: Path | None = None, cub: Path | None = None) -> tuple[int, str]:
        """Run Python's module `words` with the copy's code, or that of another `cub`."""
        env = {**environment(self.home), "PYTHONPATH": str(cub or self.root)}
        command = [sys.executable, "-m", *words]
        done = run_program(command, cwd=cwd or self.root, environ=env, limit=120)
        return done.code, done.out + done.err

    def check(self, files: list[str], *options: str) -> tuple[int, str]:
        """Run the files of the recipe's command that say something of the change."""
        for file in files:
            assert any(f"{file}/".startswith(f"{path}/") for path in self.recipe.check), file
        plugins = ("-p", "no:cacheprovider", "-p", "no:xdist")
        return self.run(*self.recipe.check[2:3], *files, "-q", *plugins, *options)

    def left_out(self) -> list[list[str]]:
        """The steps of the recipe of which no file was changed."""
        return [
            step
            for step in self.recipe.steps
            if not any(fnmatchcase(path, pattern) for path in self.changed for pattern in step)
        ]


STARLARK = """
[[language]]
name = "Starlark"
endings = ["bzl", "star"]
grammar = "starlark"
module = "python"
depth = 3
sentinel = "\\npass"
exported = "no_underscore"
comments = "hash"
modifiers = "none"
"""


@pytest.mark.thorough
def test_the_recipe_of_a_language_has_the_map_show_its_definitions(tmp_path: Path) -> None:
    """Starlark, whose files the grammar of Python can parse."""
    copy, project = Copy("A language", tmp_path), tmp_path / "project"
    (project / ".cub").mkdir(parents=True)
    (project / "rules.bzl").write_text("def bake(name, loaves = []):\n    pass\n")
    symbols, tests = "cub/repomap/symbols", "tests/repomap/symbols"

    table = copy.change("cub/repomap/data/languages.toml")
    with table.open("a", encoding="utf-8") as file:
        file.write(STARLARK)
    copy.change(f"{symbols}/queries/starlark.scm").write_text(
        "(module (function_definition name: (identifier) @name body: (block) @body) @function)\n"
        "(module (expression_statement (assignment left: (identifier) @name @until)) @variable)\n"
    )
    row = '    "starlark": b"def f(a):\\n    return [a, 1]\\n\\n",'
    copy.add("tests/repomap/grammar_names.py", '    "lua":', row)
    case = '"starlark", "def f(a):\\n  x = 1\\n_B = 2\\n", """\\\n'
    case += '        1 function f | def f(a)\n        3 -variable _B | _B\n        """'
    copy.add(f"{tests}/definitions_dynamic.py", "CASES = [", f"    pytest.param({case}),")

    copy.add("docs/explanation/map.md", "| Lua |", "| Starlark | `bzl` `star` |")
    names = ("test_definitions", "test_bounded_parser")
    files = ["tests/docs/test_map_tables.py", *(f"{tests}/{name}.py" for name in names)]
    code, said = copy.check(files, "-k", "not hostile and not lost")  # which take seconds
    assert code == 0, said
    assert copy.left_out() == []

    code, said = copy.run("cub", "map", "--stdout", cwd=project)
    assert (code, "languages: Starlark 100%" in said) == (0, True), said
    assert "\nrules.bzl\n  def bake(name, loaves = [])\n" in said
    assert "bake(" not in copy.run("cub", "map", "--stdout", cwd=project, cub=ROOT)[1]


@pytest.mark.thorough
def test_the_recipe_of_a_setting_has_cub_take_and_show_it(tmp_path: Path) -> None:
    copy, project = Copy("A setting", tmp_path), tmp_path / "project"
    (project / ".cub").mkdir(parents=True)
    git(project, "init", "--quiet")
    for key, value in {"name": "Ada", "email": "ada@example.org"}.items():
        git(project, "config", f"user.{key}", value)
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Start")
    (project / ".cub/config.yaml").write_text("run:\n  max_files: 7\n")
    (project / ".cub/script.yaml").write_text("tasks: {}\n")
    schema = "golden/project/test_config_schema/test_the_schema_stays_as_it_is.json"

    about = "How many files an attempt may change."
    row = f'    Setting("run.max_files", "whole", 50, "{about}", minimum=1),'
    copy.add("cub/project/settings.py", '    Setting("run.max_attempts"', row)
    settings = "cub/actions/run/run_options.py"
    copy.add(settings, "    max_attempts: int", "    max_files: int")
    row = '        max_files=get["run.max_files"],'
    copy.add(settings, "        max_attempts=", row)
    before = copy.change(schema).read_text(encoding="utf-8")

    files = ["tests/project/test_config_schema.py", "tests/docs/test_config_reference.py"]
    code, said = copy.check(files, "--force-regen")
    assert (code, said.count("\nFAILED")) == (1, 2), said
    assert (copy.root / schema).read_text(encoding="utf-8") != before
    row = f"| `run.max_files` | integer of at least 1 | `50` | anywhere | {about[:-1]} |"
    copy.add("docs/reference/config.md", "| `run.max_attempts` |", row)
    code, said = copy.check(files)
    assert code == 0, said
    assert copy.left_out() == []

    show = ("cub", "config", "show")
    rows = [line.split() for line in copy.run(*show, cwd=project)[1].splitlines()]
    assert ["run.max_files", "7"] in [row[:2] for row in rows]
    assert "max_files" not in copy.run(*show, cwd=project, cub=ROOT)[1].partition("warning")[0]
    assert copy.run("cub", "run", "--dry-run", "--harness", "scripted", cwd=project)[0] == 0
    code, said = copy.run("cub", "config", "set", "run.max_files", "0", cwd=project)
    assert (code, "must be an integer of at least 1, not 0" in said) == (2, True), said
