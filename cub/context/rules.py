"""Find the rules for agents, in the fixed order of their locations, and read each file once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cub.agent_profiles.agent_profile import RuleScope
from cub.context.front_matter import MarkdownText, split_front_matter
from cub.context.text_reader import FileIdentity, TextFile, TextReader
from cub.errors import CubError
from cub.project.rule_locations import RULE_SCOPES, RuleLocation, list_rule_locations


@dataclass(frozen=True, slots=True)
class RuleFile:
    """Hold a rule: its name in messages, its path, the folder that its location is relative to.

    `same_as` names the file that this one is another name of; "" if it is the first.
    """

    name: str
    path: Path
    location: RuleLocation
    folder: Path
    identity: FileIdentity
    text: MarkdownText
    same_as: str = ""


@dataclass(slots=True)
class RuleSearch:
    """Collect rules; the reader notes those that can't be read."""

    reader: TextReader
    rules: list[RuleFile] = field(default_factory=list)
    _names: dict[FileIdentity, str] = field(default_factory=dict)

    def find_all(self, scopes: Iterable[RuleScope] = RULE_SCOPES, agent: str = "") -> None:
        """Find all rules in the order of the table, those nearest to the start first.

        With an agent, only those that it reads by itself. Raises CubError for a rules folder that
        can't be listed.
        """
        for scope in scopes:
            for folder in self._list_folders(scope):
                for location in list_rule_locations(scope, agent):
                    self.find_at(location, folder)

    def find_at(self, location: RuleLocation, folder: Path, max_bytes: int | None = None) -> None:
        """Add the rules of one location below a folder, or their first `max_bytes` bytes."""
        for path in self._list_paths(location, folder):
            try:
                file = self.reader.read_document(path, self.reader.get_base(location.scope, folder))
            except CubError as error:
                self.reader.warn(error, "it is left out")
                continue
            if file:
                if location.scope == "parent":
                    self.reader.warn_of_owner(path, file.owner)
                cut = file._replace(data=file.data[:max_bytes])
                self._add(path, location, folder, cut)

    def warn_of_broken_files(self, location: RuleLocation, folder: Path) -> None:
        """Note links to nothing, and what is no regular file, where rules are looked for."""
        for path in self._list_paths(location, folder):
            if not path.is_file():
                try:
                    self.reader.read(path, None)
                except CubError as error:
                    self.reader.warn(error, "it is left out")

    def _list_folders(self, scope: RuleScope) -> list[Path]:
        if scope == "user":
            return [self.reader.home] if self.reader.home else []
        return self.reader.project_folders if scope == "project" else self.reader.folders_above

    def _list_paths(self, location: RuleLocation, folder: Path) -> Iterator[Path]:
        path = folder / location.path
        if not location.is_folder:
            if not path.is_dir():
                yield path
            return
        base = self.reader.get_base(location.scope, folder)
        yield from self.reader.list_markdown(path, base, is_flat=location.is_flat)

    def _add(self, path: Path, location: RuleLocation, folder: Path, file: TextFile) -> None:
        name = self.reader.describe(path)
        text = split_front_matter(file.data, name)
        same_as = self._names.setdefault(file.identity, name)
        if text.error and same_as == name:
            self.reader.warn(text.error, "only the fields that can be read count")
        self.rules.append(
            RuleFile(
                name,
                path,
                location,
                folder,
                file.identity,
                text,
                same_as if same_as != name else "",
            )
        )
