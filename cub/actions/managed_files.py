"""Install, refresh, and describe the files that cub manages whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cub.edit.document import Document
from cub.edit.file_header import CommentStyle, FileHeader, add_file_header, parse_file_header
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import NewerVersionError
from cub.files.file_tree import FileTree
from cub.project.checkout_state import CheckoutState
from cub.project.config import ProjectConfig
from cub.project.project import Project
from cub.project.targets import CURSOR_RULE_FILE
from cub.prompt.templates import TemplateSet

CONSTITUTION = ".cub/constitution.md"
GITIGNORE, GITATTRIBUTES = ".cub/.gitignore", ".cub/.gitattributes"
MAP = ".cub/map.md"
# By the word in `inline`: the file, and a title for a text that has none.
INLINED_FILES = {
    "map": (MAP, "Project map"),
    "constitution": (CONSTITUTION, "Operating principles"),
}
MAP_FORMAT = 1  # the version in its header, independent of the templates' version
MAP_LINES = ("/map.md",)
LEDGER_LINES = ("/ledger.jsonl", "/ledger-archive.jsonl")
TASKS_LINES = ("/tasks.jsonl", "/tasks.jsonl.rejected")


@dataclass(frozen=True, slots=True)
class ManagedFile:
    """Describe a file of cub's own, refreshed until somebody edits it.

    An edited one is kept, and with `offer` the new text goes into a .new file beside it. `template`
    is empty if the text depends on the project.
    """

    path: str
    template: str
    comment: CommentStyle
    purpose: str
    offer: bool = False
    front_matter: str = ""

    @property
    def offer_path(self) -> str:
        """Return the path of the file that offers a newer text."""
        return f"{self.path}.new"


RUNLOOP = ManagedFile(
    ".cub/runloop.md", "runloop.md", "<!-- {} -->", "the run loop's contract", offer=True
)
# The first task brings these too: they do not show that a project wants cub's sections.
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
    "the shared instructions as a Cursor rule",
    front_matter="---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n",
)


def refresh_managed_file(
    file: ManagedFile,
    project: Project,
    templates: TemplateSet,
    state: CheckoutState,
    body: str = "",
) -> tuple[Plan, CheckoutState]:
    """Install or refresh one file; keep an edited one, and offer it the new text once.

    `body` is the text of a file without a template. The state comes back with what to remember.
    """
    data, version = project.tree.read(file.path), templates.version
    local = map_local_lines(project.config)
    body = body or render_managed_file(file, templates, version, local)
    fresh = add_file_header(body, version, file.comment, file.front_matter)
    if data is None:
        return Plan((FileEdit(file.path, None, fresh, f"install: {file.purpose}"),)), state
    fresh = match_newline(fresh, data)
    header = parse_known_header(data, file.path, version)
    if header and header.is_intact:
        is_same = header.matches(body.encode(), file.front_matter.encode())
        if header.version == version and is_same:
            return Plan(), state
        step = f" v{header.version} → v{version}" if header.version != version else ""
        reason = f"refresh{step}: {file.purpose}"
        return Plan((FileEdit(file.path, data, fresh, reason),)), state
    if (header and header.version == version) or state.offered_versions.get(file.path) == version:
        return Plan(), state
    return _offer_new_text(file, project.tree, fresh, version, state)


def match_newline(fresh: bytes, data: bytes) -> bytes:
    """Return `fresh`, which has LF, with the line endings of `data`: autocrlf changes them."""
    return fresh.replace(b"\n", b"\r\n") if Document(data).newline == b"\r\n" else fresh


def parse_known_header(data: bytes, path: str, version: int) -> FileHeader | None:
    """Return the header of a file, None if it has none; refuse a newer cub's."""
    header = parse_file_header(data)
    if header and header.version > version:
        raise NewerVersionError("written", f"v{header.version}", f"writes v{version}", where=path)
    return header


def render_managed_file(
    file: ManagedFile, templates: TemplateSet, version: int, local: Iterable[str] = ()
) -> str:
    """Return the text of a file with a template; `local` are further lines of the .gitignore."""
    text = templates.read_file(file.template, version)
    return text + "".join(f"{line}\n" for line in local if file.path == GITIGNORE)


def map_local_lines(config: ProjectConfig) -> dict[str, str]:
    """Return the lines of a .gitignore for what stays local, each with the key that says so."""
    rows = (
        ("map.commit", MAP_LINES, config.map_commit),
        ("ledger.commit", LEDGER_LINES, config.ledger_commit),
        ("tasks.commit", TASKS_LINES, config.tasks_commit),
    )
    return {line: key for key, lines, shared in rows if not shared for line in lines}


def map_local_files(config: ProjectConfig) -> dict[str, str]:
    """Return the same files by their paths."""
    return {f".cub{line}": key for line, key in map_local_lines(config).items()}


def plan_constitution(tree: FileTree, templates: TemplateSet) -> Plan:
    """Plan the constitution, copied once; an existing one is the user's."""
    if tree.read(CONSTITUTION) is not None:
        return Plan()
    text, reason = templates.read_file("constitution.md"), "operating principles, for you to edit"
    return Plan((FileEdit(CONSTITUTION, None, text.encode(), f"install: {reason}"),))


def _offer_new_text(
    file: ManagedFile, tree: FileTree, fresh: bytes, version: int, state: CheckoutState
) -> tuple[Plan, CheckoutState]:
    if not file.offer:
        hint = "delete it and run `cub init` to get cub's version"
        warning = PlanWarning("kept as you wrote it", file.path, None, hint)
        return Plan((), (warning,)), state.with_offer(file.path, version)
    old = tree.read(file.offer_path)
    if old is not None and not is_intact(old):
        hint = "you edited it: move it elsewhere, and cub writes its new version there"
        warning = PlanWarning("left unchanged", file.offer_path, None, hint)
        return Plan((), (warning,)), state
    reason = f"offer v{version}: you edited {file.path}"
    edit = FileEdit(file.offer_path, old, fresh, reason, is_local=True)
    message = f"your edited version is kept; v{version} is in {file.offer_path}"
    hint = "copy what you want from it, then delete it"
    warning = PlanWarning(message, file.path, hint=hint)
    edits = (edit,) if old != fresh else ()
    return Plan(edits, (warning,)), state.with_offer(file.path, version)


def is_intact(data: bytes) -> bool:
    """Tell whether a file is still as some cub wrote it."""
    header = parse_file_header(data)
    return header is not None and header.is_intact
