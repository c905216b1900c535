"""Find the commands with which a project checks itself, and propose those that can run here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from cub.actions.check_programs import CheckPrograms, describe_missing
from cub.config_edit.yaml_text import format_yaml
from cub.files.read_files import read_prefix
from cub.project.project import Project
from cub.repomap.listing.file_kinds import FOREIGN_KINDS, FileClassifier
from cub.repomap.listing.file_listing import list_files
from cub.repomap.stack.command_lines import detect_ecosystem, find_install_command, unwrap_command
from cub.repomap.stack.facts import CommandPurpose, ProjectCommand, ProjectStack

_FEEDBACK_LOOPS: tuple[CommandPurpose, ...] = ("typecheck", "test", "lint")
_LINTERS: tuple[CommandPurpose, ...] = ("typecheck", "lint")
_MAX_PROPOSED = 3  # commands
# Programs that first make an environment of their own, from the network.
_ENVIRONMENT_MAKERS = frozenset({"hatch", "nox", "pre-commit", "prek", "tox"})
# What no package of the project's own ecosystem brings.
_TOOLCHAINS = frozenset({
    "python", "python3", "uv", "poetry", "pdm", "pipenv", "pixi", "rye", "conda", "node", "npm",
    "npx", "pnpm", "yarn", "bun", "bunx", "make", "gmake", "just", "task",
})  # fmt: skip
_INSTALLS_TOOLS = re.compile(r"\[|--group|-r |--dev|sync|poetry|pdm|pixi|conda")
# The tests that no manifest names.
_COLLECTED = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")  # by pytest
_MODULE = re.compile(r"(?:(?:src|tests?)/)?tests?\.py")
_DEPTH = 4  # folders above a test; deeper ones are rarely the project's own
_NODE_SCRIPT = re.compile(r"tests?\.[cm]?js")
_NODE_TEST = re.compile(r"tests?/(?:.*/)?[^/]*\.[cm]?js|(?:[^/]*[.-])?tests?\.[cm]?js")
_IMPORTS_UNITTEST = re.compile(r"^\s*(?:import|from)\s+unittest\b", re.MULTILINE)
_IMPORTS_PYTEST = re.compile(r"^\s*(?:import|from)\s+pytest\b", re.MULTILINE)
_IMPORTS_NODE_TEST = re.compile(r"""['"]node:test['"]""")
_CALLS_RUNNER = re.compile(r"^(?:describe|suite|it|test)\(", re.MULTILINE)  # of mocha and jest
_MAX_READ_FILES = 20
_MAX_BYTES = 100_000


class CheckProposal(NamedTuple):
    """Hold commands that can decide here, each with its manifest or test file.

    If there is none, `obstacle` says why, and `remedy` what to do; both may be "". `linters` are
    the commands that are no tests.
    """

    commands: Mapping[str, str] = {}
    obstacle: str = ""
    remedy: str = ""
    linters: tuple[str, ...] = ()


def find_check_commands(project: Project) -> tuple[ProjectCommand, ...]:
    """Return the commands with which the project checks itself, as its map names them.

    Of the targets of a manifest, only the first of each purpose counts: the others are mostly parts
    and variants of it.
    """
    stack = read_configured_stack(project)
    commands: dict[tuple[str, str, str], ProjectCommand] = {}
    for purpose in _FEEDBACK_LOOPS:
        for command in stack.filter_commands(purpose):
            if command.shell_line:
                line = "" if command.origin == "target" else command.shell_line
                commands.setdefault((command.purpose, command.source, line), command)
    return tuple(commands.values())


def read_configured_stack(project: Project) -> ProjectStack:
    """Read the stack of a project without what its configuration excludes, as its map does."""
    from cub.repomap.stack.read_stack import read_project_stack

    return read_project_stack(project.root, _read_exclude(project))


def _read_exclude(project: Project) -> Sequence[str]:
    from cub.actions.project_map import MapOptions, resolve_map_settings

    return resolve_map_settings(project, MapOptions()).exclude


def propose_checks(project: Project, environ: Mapping[str, str]) -> CheckProposal:
    """Propose commands that can run here: one for each test suite, then linters.

    Linters alone are not proposed: they pass for wrong code.
    """
    programs, stack = CheckPrograms(project.root, environ), read_configured_stack(project)
    python = next(filter(programs.find_program, ("python", "python3")), "")
    named = list(_list_candidates(stack, "test", python))
    chosen, found = _choose_commands(named, programs), list[ProjectCommand]()
    if not chosen:
        found = list(_find_tests(project.root, _read_exclude(project), python or "python3"))
        ecosystems = {_detect_ecosystem(one) for one in named or found}
        # Those of another language are of no suite that a manifest names.
        found = [one for one in found if ecosystems & {"", _detect_ecosystem(one)}]
        chosen = _choose_commands(found, programs)
    if not chosen:
        return _explain_obstacle([*named, *found], stack, programs)
    for purpose in _LINTERS:
        commands = _list_candidates(stack, purpose, python)
        linters = [one for one in commands if not _makes_environment(one)]
        chosen += _choose_commands(linters, programs)
    chosen = chosen[:_MAX_PROPOSED]
    lines = tuple(one.shell_line for one in chosen if one.purpose in _LINTERS)
    return CheckProposal({one.shell_line: one.source for one in chosen}, linters=lines)


def _list_candidates(
    stack: ProjectStack, purpose: CommandPurpose, python: str
) -> Iterator[ProjectCommand]:
    """Yield the commands for a purpose, those that need no environment of their own first.

    Of targets, only the first of each manifest counts, except scripts of package.json: those are
    known down to their programs. `python -m pytest` imports a project that is not installed,
    `pytest` does not.
    """
    sources = set[str]()
    for command in sorted(stack.filter_commands(purpose), key=_makes_environment):
        is_target = command.origin == "target" and not command.source.endswith("package.json")
        if not command.shell_line or (is_target and command.source in sources):
            continue
        if is_target:
            sources.add(command.source)
        if command.text == "pytest" and python:
            yield command._replace(text=f"{python} -m pytest")
        yield command


def _makes_environment(command: ProjectCommand) -> bool:
    return not _ENVIRONMENT_MAKERS.isdisjoint(unwrap_command(command.text)[:1])


def _choose_commands(
    candidates: Iterable[ProjectCommand], programs: CheckPrograms
) -> list[ProjectCommand]:
    """Return the first command that can run for each folder and ecosystem.

    One that tells no ecosystem, such as `make test`, is taken to run all that its folder has.
    """
    chosen: list[ProjectCommand] = []
    for candidate in candidates:
        rivals = {_detect_ecosystem(one) for one in chosen if one.folder == candidate.folder}
        ecosystem = _detect_ecosystem(candidate)
        is_covered = rivals and (not ecosystem or not rivals.isdisjoint({"", ecosystem}))
        if not is_covered and not programs.find_missing(candidate):
            chosen.append(candidate)
    return chosen


def _detect_ecosystem(command: ProjectCommand) -> str:
    lines = filter(None, (command.text, *command.runs.split("\n")))
    return next(filter(None, map(detect_ecosystem, lines)), "")


def _find_tests(root: Path, exclude: Sequence[str], python: str) -> Iterator[ProjectCommand]:
    """Yield the commands for test files, the best first, each with such a file as its source.

    `python` is the name of the Python to use.
    """
    paths = list_files(root, exclude).paths
    classifier = FileClassifier(paths)
    own = [path for path in paths if classifier.classify(path) not in FOREIGN_KINDS]
    yield from _list_python_commands(root, own, python)
    yield from _list_node_commands(root, own)


def _list_python_commands(
    root: Path, paths: Sequence[str], python: str
) -> Iterator[ProjectCommand]:
    collected = [path for path in paths if _COLLECTED.fullmatch(path) and path.count("/") < _DEPTH]
    files = collected or [path for path in paths if _MODULE.fullmatch(path)][:1]
    if not files:
        return
    # pytest collects a file of another name only if that is named.
    names = "" if collected else f" {files[0]}"
    yield ProjectCommand("test", f"{python} -m pytest{names}", files[0])
    texts = list(_read_texts(root, files))
    if any(map(_IMPORTS_UNITTEST.search, texts)) and not any(map(_IMPORTS_PYTEST.search, texts)):
        folder = files[0].rpartition("/")[0].split("/")[0]
        is_package = not folder or f"{folder}/__init__.py" in paths
        where = "" if is_package else f" discover {folder}"
        yield ProjectCommand("test", f"{python} -m unittest{where}", files[0])


def _list_node_commands(root: Path, paths: Sequence[str]) -> Iterator[ProjectCommand]:
    for path in paths:
        text = next(_read_texts(root, [path]), "") if _NODE_TEST.fullmatch(path) else ""
        if _IMPORTS_NODE_TEST.search(text):
            yield ProjectCommand("test", "node --test", path)
        elif _NODE_SCRIPT.fullmatch(path) and text and not _CALLS_RUNNER.search(text):
            yield ProjectCommand("test", f"node {path}", path)


def _read_texts(root: Path, paths: Iterable[str]) -> Iterator[str]:
    for path in list(paths)[:_MAX_READ_FILES]:
        try:
            data = read_prefix(os.fspath(root), path, _MAX_BYTES)
        except OSError:
            continue
        yield data.decode("utf-8", "replace")


def _explain_obstacle(
    tests: Sequence[ProjectCommand], stack: ProjectStack, programs: CheckPrograms
) -> CheckProposal:
    """Say what the project's first test command lacks here, and what installs it."""
    if not tests:
        has_linters = any(map(stack.filter_commands, _LINTERS))
        return CheckProposal(obstacle="only linters were found, no tests" if has_linters else "")
    command, missing = tests[0], programs.find_missing(tests[0])
    text = f"the tests are `{command.shell_line}`, from {command.source}"
    return CheckProposal(
        obstacle=f"{text}, but {describe_missing(missing)}",
        remedy=_suggest_activation(programs.root, missing)
        or _suggest_installation(command, missing, stack),
    )


def _suggest_activation(root: Path, program: str) -> str:
    """Name the project's virtual environment that has a program; "" if none has it."""
    scripts = (f"{name}/bin/activate" for name in (".venv", "venv", "env"))
    found = (name for name in scripts if (root / name).with_name(program).exists())
    return next((f"run `. {name}`" for name in found), "")


def _suggest_installation(command: ProjectCommand, missing: str, stack: ProjectStack) -> str:
    install = find_install_command(stack, command.shell_line)
    line = install.shell_line if install else ""
    if missing in {*_TOOLCHAINS, *line.split()[:1]}:
        return f"install {missing}"
    if _detect_ecosystem(command) == "python" and not _INSTALLS_TOOLS.search(line):
        line = f"pip install {missing}"
    return f"run `{line}`" if line else f"install {missing}"


def format_checks_command(proposed: Iterable[str]) -> str:
    """Return the command that configures these checks."""
    return f"cub config set run.checks {quote(format_yaml(list(proposed)))}"
