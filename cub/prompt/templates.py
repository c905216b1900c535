"""The template set: every released version of the section bodies, and the whole files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cub.resources import data_dir

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

    def has(self, version: int) -> bool:
        """Whether that version of the section templates ever was."""
        return (self.folder / "sections" / f"v{version}").is_dir()

    def render(self, version: int, name: str, **values: object) -> str:
        """The section body `name` of `version`; LookupError where that version never was."""
        if not self.has(version):
            raise LookupError(f"no templates of version {version}")
        return self._rendered(f"sections/v{version}/{name}.md.j2", values)

    def prompt(self, name: str, **values: object) -> str:
        """The prompt `name`."""
        return self._rendered(f"prompts/{name}.md.j2", values)

    def _rendered(self, path: str, values: dict[str, object]) -> str:
        text = _environment(self.folder).get_template(path).render(**values)
        return text.strip("\n") + "\n"

    def changes(self, after: int, up_to: int) -> tuple[str, ...]:
        """One line a change, of the versions `after` < n <= `up_to`."""
        lines: list[str] = []
        for number in range(after + 1, up_to + 1):
            file = self.folder / "sections" / f"v{number}" / "changes.txt"
            text = file.read_text(encoding="utf-8") if file.exists() else ""
            lines += [f"v{number}: {line}" for line in text.splitlines() if line.strip()]
        return tuple(lines)

    def file(self, name: str, version: int | None = None) -> str:
        """The text of a whole file that cub installs, or that `version` installed."""
        versions = range(version or self.version, self.version)
        kept = (self.folder / "files" / f"v{number}" / name for number in versions)
        path = next((path for path in kept if path.exists()), self.folder / "files" / name)
        return path.read_text(encoding="utf-8")


def shipped() -> TemplateSet:
    """The set that ships with this cub."""
    return TemplateSet(data_dir("templates"))


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
