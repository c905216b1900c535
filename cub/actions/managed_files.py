"""The whole files that cub installs: which there are, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cub.edit.document import Document
from cub.edit.file_header import (
    CommentStyle,
    FileHeader,
    add_file_header,
    compute_file_digest,
    parse_file_header,
)
from cub.edit.plan import FileEdit, PlanWarning
from cub.errors import NewerVersionError
from cub.files import FileTree
from cub.project.checkout_state import CheckoutState
from cub.project.config import ProjectConfig
from cub.project.targets import CURSOR_RULE_FILE
from cub.prompt.templates import TemplateSet

CONSTITUTION = ".cub/constitution.md"
GITIGNORE, GITATTRIBUTES = ".cub/.gitignore", ".cub/.gitattributes"
MAP = ".cub/map.md"
MAP_FORMAT = 1  # the version in its seal, which counts by itself
MAP_LINES = ("/map.md",)
LEDGER_LINES = ("/ledger.jsonl", "/ledger-archive.jsonl")
TASKS_LINES = ("/tasks.jsonl", "/tasks.jsonl.rejected")


@dataclass(frozen=True, slots=True)
class ManagedFile:
    """A file of cub's own, refreshed while nobody edits it; `offer`: else, a .new beside it.

    `template` is empty where the text depends on the project; `front_matter` is front matter.
    """

    path: str
    template: str
    comment: CommentStyle
    purpose: str
    offer: bool = False
    front_matter: str = ""

    @property
    def offer_path(self) -> str:
        """Where a newer text is offered."""
        return f"{self.path}.new"


RUNLOOP = ManagedFile(
    ".cub/runloop.md", "runloop.md", "<!-- {} -->", "the run loop's contract", offer=True
)
# These come with the first task, too: they do not tell that a project wants cub's sections.
GITIGNORE_FILE = ManagedFile(GITIGNORE, "gitignore", "# {}", "keeps local files out of git")
GIT_FILES = (
    GITIGNORE_FILE,
    ManagedFile(GITATTRIBUTES, "gitattributes", "# {}", "lets git merge tasks and ledger"),
)
MANAGED_FILES = (RUNLOOP, *GIT_FILES)
# Made from the project's files, by `cub.actions.project_map`.
MAP_FILE = ManagedFile(MAP, "", "<!-- {} -->", "the project map")
# An instruction file that holds nothing else: it is a target, and written only if asked for.
CURSOR_RULE = ManagedFile(
    CURSOR_RULE_FILE.path,
    "",
    "<!-- {} -->",
    "the shared instructions as a rule of Cursor's",
    front_matter="---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n",
)


@dataclass(slots=True)
class RefreshResult:
    """What becomes of a file: an edit, a warning, and the state to remember."""

    state: CheckoutState
    edit: FileEdit | None = None
    warning: PlanWarning | None = None


def refresh_managed_file(
    file: ManagedFile, tree: FileTree, templates: TemplateSet, state: CheckoutState, body: str = ""
) -> RefreshResult:
    """Install or refresh one file; an edited one is kept, and offered the new text once."""
    data, version = tree.read(file.path), templates.version
    body = body or templates.read_file(file.template)
    wanted = compute_file_digest(body.encode(), file.front_matter.encode())
    fresh = add_file_header(body, version, file.comment, file.front_matter)
    if data is None:
        return RefreshResult(state, FileEdit(file.path, None, fresh, f"install: {file.purpose}"))
    if Document(data).newline == b"\r\n":  # a checkout with autocrlf
        fresh = fresh.replace(b"\n", b"\r\n")
    found = parse_known_header(data, file.path, version)
    if found and found.is_intact:
        if found.version == version and found.digest == wanted:
            return RefreshResult(state)
        step = f" v{found.version} → v{version}" if found.version != version else ""
        return RefreshResult(
            state, FileEdit(file.path, data, fresh, f"refresh{step}: {file.purpose}")
        )
    if (found and found.version == version) or state.offered_versions.get(file.path) == version:
        return RefreshResult(state)
    return _offer(file, tree, fresh, version, state)


def parse_known_header(data: bytes, path: str, version: int) -> FileHeader | None:
    """The seal of a file; a newer cub's is refused."""
    found = parse_file_header(data)
    if found and found.version > version:
        raise NewerVersionError("written", f"v{found.version}", f"writes v{version}", where=path)
    return found


def render_managed_file(
    file: ManagedFile, templates: TemplateSet, version: int, local: Sequence[str] = ()
) -> str:
    """What a file with a template says; `local` are further lines of the .gitignore."""
    text = templates.read_file(file.template, version)
    return text + "".join(f"{line}\n" for line in local if file.path == GITIGNORE)


def list_gitignore_lines(config: ProjectConfig) -> tuple[str, ...]:
    """What a project keeps out of git because its configuration asks for that."""
    return tuple(line for line, _ in _list_local_lines(config))


def map_local_files(config: ProjectConfig) -> dict[str, str]:
    """The same files by their paths, each with the key that keeps it out of git."""
    return {f".cub{line}": key for line, key in _list_local_lines(config)}


def _list_local_lines(config: ProjectConfig) -> Iterator[tuple[str, str]]:
    rows = (
        ("map.commit", MAP_LINES, config.map_commit),
        ("ledger.commit", LEDGER_LINES, config.ledger_commit),
        ("tasks.commit", TASKS_LINES, config.tasks_commit),
    )
    return ((line, key) for key, lines, shared in rows if not shared for line in lines)


def plan_constitution(tree: FileTree, templates: TemplateSet) -> FileEdit | None:
    """Copied once; whatever stands there afterwards is the user's and is never written."""
    if tree.read(CONSTITUTION) is not None:
        return None
    text = templates.read_file("constitution.md").encode()
    return FileEdit(CONSTITUTION, None, text, "install: operating principles, yours from now on")


def _offer(
    file: ManagedFile, tree: FileTree, fresh: bytes, version: int, state: CheckoutState
) -> RefreshResult:
    if not file.offer:
        hint = "delete it and run `cub init` to get cub's own"
        kept = PlanWarning("kept as you wrote it", file.path, None, hint)
        return RefreshResult(state.with_offer(file.path, version), warning=kept)
    old = tree.read(file.offer_path)
    if old is not None and not is_intact(old):
        hint = "it is yours: move it away, and cub puts its new text there"
        return RefreshResult(
            state, warning=PlanWarning("left as it is", file.offer_path, None, hint)
        )
    edit = FileEdit(
        file.offer_path, old, fresh, f"offer v{version}: {file.path} is yours", is_local=True
    )
    warning = PlanWarning(
        f"kept as you edited it; the text of v{version} is in {file.offer_path}",
        file.path,
        hint="take over what you want from it, then delete it",
    )
    known = state.with_offer(file.path, version)
    return RefreshResult(known, edit if old != fresh else None, warning)


def is_intact(data: bytes) -> bool:
    """Whether a file is still as some cub wrote it."""
    found = parse_file_header(data)
    return found is not None and found.is_intact
