"""The template set: every released version of the section bodies, and the whole files.

The message of a task's commit, from the template that the configuration has.
"""

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


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """The templates in a folder: `sections/vN/*.md.j2` with `changes.txt`, `files/*`, `prompts/*`.

    A whole file that changes with version N + 1 leaves its text up to N in `files/vN/`.
    """

    folder: Path

    @property
    def version(self) -> int:
        """The newest version of the section templates."""
        return max(int(path.name[1:]) for path in (self.folder / "sections").glob("v*"))

    def has_version(self, version: int) -> bool:
        """Whether that version of the section templates ever was."""
        return (self.folder / "sections" / f"v{version}").is_dir()

    def render_section(self, version: int, name: str, **values: object) -> str:
        """The section body `name` of `version`; LookupError where that version never was."""
        if not self.has_version(version):
            raise LookupError(f"no templates of version {version}")
        return self._render(f"sections/v{version}/{name}.md.j2", values)

    def render_prompt(self, name: str, **values: object) -> str:
        """The prompt `name`."""
        return self._render(f"prompts/{name}.md.j2", values)

    def _render(self, path: str, values: dict[str, object]) -> str:
        text = _environment(self.folder).get_template(path).render(**values)
        return text.strip("\n") + "\n"

    def list_changes(self, after: int, up_to: int) -> tuple[str, ...]:
        """One line a change, of the versions `after` < n <= `up_to`."""
        lines: list[str] = []
        for number in range(after + 1, up_to + 1):
            file = self.folder / "sections" / f"v{number}" / "changes.txt"
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            lines += [f"v{number}: {line}" for line in text.splitlines() if line.strip()]
        return tuple(lines)

    def read_file(self, name: str, version: int | None = None) -> str:
        """The text of a whole file that cub installs, or that `version` installed."""
        versions = range(version or self.version, self.version)
        kept = (self.folder / "files" / f"v{number}" / name for number in versions)
        path = next((path for path in kept if path.exists()), self.folder / "files" / name)
        return path.read_text(encoding="utf-8")


def load_shipped_templates() -> TemplateSet:
    """The set that ships with this cub."""
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


_LONGEST = 1000  # characters of a word: a template may hold it many times


def fill_commit_template(template: str, values: Mapping[str, str]) -> str:
    """A template of messages with its words, each cut to a sane length."""
    return fill_template(template, {name: word[:_LONGEST] for name, word in values.items()})


def render_commit_message(template: str, task: Record) -> str:
    """The message that a task's commit gets; what is in the task stays on one line."""
    said = {"id": task["id"], "type": task.get("issue_type") or "task", "title": task.get("title")}
    words = {key: " ".join(str(value or "").split()) for key, value in said.items()}
    return fill_commit_template(template, words).strip() or words["id"]
