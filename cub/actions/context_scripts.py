"""List what a project's rules and task files run: bootstraps, and commands in task files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from cub.context.bootstraps import Bootstrap, find_bootstraps
from cub.context.rules import RuleSearch
from cub.context.task_files import TaskFile, list_task_files
from cub.context.text_reader import TextReader
from cub.errors import CubError
from cub.project.project import Project, find_home


class ContextScript(NamedTuple):
    """Hold a script or a command that `cub context` runs, and the file that it stands in."""

    kind: Literal["bootstrap", "command"]
    source: str
    text: str

    @property
    def command(self) -> str:
        """Return the command; "" for a script, which is longer than a line."""
        return self.text if self.kind == "command" else ""

    @property
    def title(self) -> str:
        """Return what it is, and the file that contains it."""
        kind = "a bootstrap" if self.kind == "bootstrap" else "a command in a task file"
        return f"{kind}, {self.source}"


def make_text_reader(project: Project, directory: Path) -> TextReader:
    """Return the reader of a call in a directory of the project."""
    start = directory.resolve()
    return TextReader(start, project.root, find_home())


def list_context_scripts(reader: TextReader) -> list[ContextScript]:
    """Return all scripts of the project and above it; none if a folder can't be read."""
    search = RuleSearch(reader)
    try:
        search.find_all(("project", "parent"))
        tasks = list_task_files(reader)
    except CubError:  # `cub context` says so; nothing of it runs
        return []
    bootstraps, _ = find_bootstraps(search.rules, reader)
    return [*describe_bootstraps(bootstraps), *(s for t in tasks for s in describe_task(t))]


def describe_bootstraps(bootstraps: Iterable[Bootstrap]) -> list[ContextScript]:
    """Return those bootstraps that the project brings along."""
    return [ContextScript("bootstrap", b.name, b.script) for b in bootstraps if b.is_project]


def describe_task(task: TaskFile) -> list[ContextScript]:
    """Return the commands of a task file that the project brings along."""
    texts = dict.fromkeys(task.commands) if task.is_project else ()
    return [ContextScript("command", task.name, text) for text in texts]
