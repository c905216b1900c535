"""Render cub's templates: every released version of the sections, files, prompts, messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cub.project.setting_kinds import fill_template
from cub.resources import find_data_dir
from cub.store.jsonl import Record

if TYPE_CHECKING:
    from jinja2 import Environment


_MAX_VALUE_CHARS = 1000  # a message template may contain a value many times


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Hold the templates in `sections/vN/*.md.j2` with `changes.txt`, `files/` and `prompts/`.

    If version N + 1 changes a whole file, `files/vN/` has its text up to N.
    """

    folder: Path

    @property
    def version(self) -> int:
        """Return the newest version of the section templates."""
        return max(int(path.name[1:]) for path in (self.folder / "sections").glob("v*"))

    def has_version(self, version: int) -> bool:
        """Tell whether there has been that version of the section templates."""
        return (self.folder / "sections" / f"v{version}").is_dir()

    def render_section(self, version: int, name: str, **values: object) -> str:
        """Return the section body `name` of `version`; LookupError if there is no such version."""
        if not self.has_version(version):
            raise LookupError(f"no templates of version {version}")
        return self._render(f"sections/v{version}/{name}.md.j2", values)

    def render_prompt(self, name: str, **values: object) -> str:
        """Return the prompt `name`."""
        return self._render(f"prompts/{name}.md.j2", values)

    def _render(self, path: str, values: dict[str, object]) -> str:
        text = _environment(self.folder).get_template(path).render(**values)
        return text.strip("\n") + "\n"

    def list_changes(self, after: int, up_to: int) -> tuple[str, ...]:
        """Return a line for each change in the versions `after` < n <= `up_to`."""
        lines: list[str] = []
        for number in range(after + 1, up_to + 1):
            file = self.folder / "sections" / f"v{number}" / "changes.txt"
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            lines += [f"v{number}: {line}" for line in text.splitlines() if line.strip()]
        return tuple(lines)

    def read_file(self, name: str, version: int | None = None) -> str:
        """Return the text of a whole file that cub installs, or that `version` installed."""
        versions = range(version or self.version, self.version)
        older = (self.folder / "files" / f"v{number}" / name for number in versions)
        path = next((path for path in older if path.exists()), self.folder / "files" / name)
        return path.read_text(encoding="utf-8")


def load_shipped_templates() -> TemplateSet:
    """Return the templates that ship with this cub."""
    return TemplateSet(find_data_dir("templates"))


@cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - Markdown for models, from cub's own values
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def fill_commit_template(template: str, values: Mapping[str, str]) -> str:
    """Return the message of a template, with each value cut to a sane length."""
    return fill_template(template, {key: value[:_MAX_VALUE_CHARS] for key, value in values.items()})


def render_commit_message(template: str, task: Record) -> str:
    """Return the message of a task's commit, with each value of the task on one line."""
    values = {key: " ".join(value.split()) for key, value in get_message_values(task).items()}
    return fill_commit_template(template, values).strip() or values["id"]


def get_message_values(task: Record) -> dict[str, str]:
    """Return what a template of messages may contain."""
    kind, title = task.get("issue_type") or "task", task.get("title") or ""
    return {"id": str(task["id"]), "type": str(kind), "title": str(title)}
