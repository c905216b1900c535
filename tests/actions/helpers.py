"""Running the intents on a folder, without the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from cub.actions.agent_context import ContextSource, count_sources_in
from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.actions.project_state import load_project_state
from cub.actions.project_status import FileStatus, list_file_statuses
from cub.actions.project_texts import list_project_texts, open_agent_files
from cub.actions.remove import plan_remove
from cub.edit.document import Document
from cub.edit.plan import EditedPolicy, Plan
from cub.edit.sections import Section, find_section
from cub.files.apply import apply_plan
from cub.files.lock import lock_project
from cub.project.agent_reading import find_agent_reading, list_loaded_files
from cub.project.project import Project
from cub.prompt.templates import TemplateSet


def carry_out(root: Path, make_plan: Callable[[Project], Plan]) -> Plan:
    with lock_project(root) as held:
        plan = make_plan(Project.load(root))
        apply_plan(plan, held)
    return plan


def init(root: Path, *paths: str, edited: EditedPolicy = "refuse", **options: object) -> Plan:
    asked = InitOptions(paths=paths, edited_policy=edited, **options)  # type: ignore[arg-type]
    return carry_out(root, lambda project: plan_init(project, asked))


def update(
    root: Path,
    edited: EditedPolicy = "refuse",
    templates: TemplateSet | None = None,
    **options: object,
) -> Plan:
    return carry_out(
        root,
        lambda p: plan_update(p, edited_policy=edited, templates=templates, **options),  # type: ignore[arg-type]
    )


def remove(root: Path, edited: EditedPolicy = "refuse", *, purge: bool = False) -> Plan:
    return carry_out(root, lambda p: plan_remove(p, edited_policy=edited, purge=purge))


def write(root: Path, path: str, text: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def list_context_sources(
    project: Project,
    agent: str,
    version: tuple[int, ...] = (),
    environ: Mapping[str, str] | None = None,
) -> list[ContextSource]:
    """The texts of a project, and how often an agent loads each."""
    files = replace(open_agent_files(project, environ or {}), version=version)
    loads = list_loaded_files(find_agent_reading(agent), files)
    return count_sources_in(list_project_texts(project), loads, files)


def body(root: Path, path: str) -> str:
    """The body of the section in `path`; "" where it has none."""
    section = find_section(Document((root / path).read_bytes(), path))
    return b"".join(section.body).decode() if section else ""


def section_of(root: Path, path: str) -> Section:
    """The section that has to be in `path`."""
    section = find_section(Document((root / path).read_bytes(), path))
    assert section is not None
    return section


def rows(root: Path) -> dict[str, FileStatus]:
    """The rows of `cub status`, by path."""
    return {row.path: row for row in list_file_statuses(load_project_state(Project.load(root)))}


def states(root: Path) -> dict[str, str]:
    """How `cub status` says that each file stands."""
    return {path: row.state for path, row in rows(root).items()}


def settled(root: Path) -> bool:
    """Whether neither a second init nor an update would write anything."""
    project = Project.load(root)
    return plan_init(project).is_empty and plan_update(project).is_empty


def put_programs(folder: Path, *names: str, script: str = "exit 0") -> Path:
    """Write programs that all do the same."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return folder


def change(file: Path, old: bytes, new: bytes) -> None:
    """Replace bytes that the file has."""
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, new))
