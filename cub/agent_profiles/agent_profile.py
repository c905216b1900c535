"""Describe an agent in one value, which all of cub reads: its program, files, and settings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cub.agent_profiles.agent_files import AgentReading
from cub.agent_profiles.user_folders import UserFolder
from cub.config_edit.config_text import ConfigFormat
from cub.config_edit.string_list import ListLocation
from cub.files.file_tree import FileTree

RuleScope = Literal["project", "parent", "user"]
DUMMY_KEY = "dummy"


class RequiredFiles(NamedTuple):
    """Hold what an agent has to read in a project, as paths from its root.

    `entry`: the root's instruction file, unless GEMINI.md imports it; `whole`: the instruction
    files that together say everything, for an agent that opens no file on its own; `references`:
    what they import; `unneeded`: what they have in themselves, and files that are gone.
    """

    entry: tuple[str, ...]
    whole: tuple[str, ...]
    references: tuple[str, ...]
    unneeded: tuple[str, ...]


class ReadingList(NamedTuple):
    """Describe an agent's setting that lists files to read.

    `files`: where the setting may be, the one to create last; `new_file`: how a new file begins;
    `default`: what the agent reads without the setting; `select_files`: what has to be in it.
    """

    files: tuple[str, ...]
    keys: tuple[str, ...]
    format: ConfigFormat
    select_files: Callable[[RequiredFiles], tuple[str, ...]]
    default: tuple[str, ...] = ()
    new_file: bytes = b""

    def locate(self, tree: FileTree) -> ListLocation:
        """Return where the setting is in a project, or will be."""
        parts = ((path, *posixpath.split(path)) for path in self.files)
        existing = (path for path, folder, name in parts if name in tree.list_names(folder))
        return ListLocation(next(existing, self.files[-1]), self.keys, self.format)


class SessionSteps(NamedTuple):
    """Say how an agent is brought to moments of a session; what is empty can't be done.

    `resume` are arguments that continue the last session, and `subagent` is a tool that starts
    another agent on a `prompt`, with its other arguments. It compacts at `full_tokens` of a
    request, or by what a user says in the resumed session: it has done so before the last prompt of
    `compact`. With the variables of `environ`, it starts faster, which is of no use for work.
    """

    resume: tuple[str, ...] = ()
    subagent: tuple[str, Mapping[str, str]] = ("", {})
    full_tokens: int = 0
    compact: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}


NO_STEPS = SessionSteps()


class ServerSettings(NamedTuple):
    """Hold what makes an agent use a model server, with the `model` that it asks for.

    `files` are settings by their paths in a new HOME, texts or JSON. `argv` are arguments that a
    project's own settings, which may name another address, can't override. In all of them, `{url}`
    stands for the server, and `{home}`, `{model}` and `{environ}` for what their names say.
    """

    model: str
    environ: Mapping[str, str]
    files: Mapping[str, Mapping[str, Any] | str] = {}
    argv: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """Describe an agent: how it is started, what it reads on its own, and what configures it.

    `name` is the word to type, "" for an agent that cub can't start; `resume` is the command that
    resumes a session, without its id; `login` says how you log in;
    `reports_cost`: it reports dollars. All versions work if `oldest_version` is "". The agent reads
    `project_files` in a project, `parent_files` in directories above it, and `user_files` in the
    home directory; a directory ends with `/`, or with `/*` if only the files directly in it count.
    `outside` changes what it reads as well: `$VARIABLE`, `~/FILE`, and `/FILE` of the machine.
    `folder` has its settings in a project, which it may ignore at a path that the user has not
    trusted, if it `trusts_paths`; it writes `own_folders` of the user's. `settings`
    and `executables` are regular expressions of paths: of settings that can make it execute
    something, and of files that it executes or obeys.
    `reading_list` is None if it has no such setting; so is `server`, which points it at a model
    server, and `reading` if cub does not know what it loads at its start. `steps` are for proofs.
    """

    title: str
    name: str = ""
    program: str = ""
    resume: tuple[str, ...] = ()
    oldest_version: str = ""
    installation: str = ""
    login: str = ""
    reports_cost: bool = False
    project_files: tuple[str, ...] = ()
    parent_files: tuple[str, ...] = ()
    user_files: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    folder: str = ""
    trusts_paths: bool = False
    own_folders: tuple[UserFolder, ...] = ()
    settings: tuple[str, ...] = ()
    executables: tuple[str, ...] = ()
    reading_list: ReadingList | None = None
    server: ServerSettings | None = None
    reading: AgentReading | None = None
    steps: SessionSteps = NO_STEPS

    def build_resume_command(self, session: str) -> str:
        """Return the command that resumes a session; "" if there is none, or for a strange id."""
        is_plain = re.fullmatch(r"[A-Za-z0-9][\w.:-]*", session, re.ASCII)
        return " ".join([*self.resume, session]) if self.resume and is_plain else ""

    def is_outdated(self, version: str) -> bool:
        """Return whether a version is older than the oldest one known to work; "" is not."""
        from packaging.version import Version

        oldest = self.oldest_version
        return bool(version and oldest) and Version(version) < Version(oldest)

    def list_files(self, scope: RuleScope) -> tuple[str, ...]:
        """Return where it reads instructions: in a project, above it, or in the home directory."""
        files = {
            "project": self.project_files, "parent": self.parent_files, "user": self.user_files,
        }  # fmt: skip
        return files[scope]

    @property
    def own_paths(self) -> tuple[str, ...]:
        """Return paths at a project's root that no other agent needs."""
        listed = self.reading_list.files if self.reading_list else ()
        own = (path for path in self.project_files if path != "AGENTS.md")
        return tuple(path.rstrip("/*") for path in (*own, self.folder, *listed) if path)
