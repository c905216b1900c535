"""The whole files that cub installs: which there are, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cub.edit.document import Document
from cub.edit.owned import Comment, Seal, digest_of, seal, unseal
from cub.edit.plan import Edit, PlanWarning
from cub.errors import NewerError
from cub.files import Tree
from cub.project.config import Config
from cub.project.state import State
from cub.project.targets import CURSOR
from cub.prompt.templates import TemplateSet

CONSTITUTION = ".cub/constitution.md"
GITIGNORE, GITATTRIBUTES = ".cub/.gitignore", ".cub/.gitattributes"
MAP = ".cub/map.md"
MAP_FORMAT = 1  # the version in its seal, which counts by itself
MAP_LINES = ("/map.md",)
LEDGER_LINES = ("/ledger.jsonl", "/ledger-archive.jsonl")
TASKS_LINES = ("/tasks.jsonl", "/tasks.jsonl.rejected")


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file of cub's own, refreshed while nobody edits it; `offer`: else, a .new beside it.

    `template` is empty where the text depends on the project; `front` is front matter.
    """

    path: str
    template: str
    comment: Comment
    purpose: str
    offer: bool = False
    front: str = ""

    @property
    def beside(self) -> str:
        """Where a newer text is offered."""
        return f"{self.path}.new"


RUNLOOP = OwnFile(
    ".cub/runloop.md", "runloop.md", "<!-- {} -->", "the run loop's contract", offer=True
)
# These come with the first task, too: they do not tell that a project wants cub's sections.
IGNORING = OwnFile(GITIGNORE, "gitignore", "# {}", "keeps local files out of git")
GIT_FILES = (
    IGNORING,
    OwnFile(GITATTRIBUTES, "gitattributes", "# {}", "lets git merge tasks and ledger"),
)
OWN_FILES = (RUNLOOP, *GIT_FILES)
# Made from the project's files, by `cub.actions.project_map`.
MAP_FILE = OwnFile(MAP, "", "<!-- {} -->", "the project map")
# An instruction file that holds nothing else: it is a target, and written only if asked for.
CURSOR_RULE = OwnFile(
    CURSOR.path,
    "",
    "<!-- {} -->",
    "the shared instructions as a rule of Cursor's",
    front="---\ndescription: Shared instructions for agents\nalwaysApply: true\n---\n",
)


@dataclass(slots=True)
class Outcome:
    """What becomes of a file: an edit, a warning, and the state to remember."""

    state: State
    edit: Edit | None = None
    warning: PlanWarning | None = None


def refresh(
    file: OwnFile, tree: Tree, templates: TemplateSet, state: State, body: str = ""
) -> Outcome:
    """Install or refresh one file; an edited one is kept, and offered the new text once."""
    data, version = tree.read(file.path), templates.version
    body = body or templates.file(file.template)
    wanted = digest_of(body.encode(), file.front.encode())
    fresh = seal(body, version, file.comment, file.front)
    if data is None:
        return Outcome(state, Edit(file.path, None, fresh, f"install: {file.purpose}"))
    if Document(data).newline == b"\r\n":  # a checkout with autocrlf
        fresh = fresh.replace(b"\n", b"\r\n")
    found = known_seal(data, file.path, version)
    if found and found.intact:
        if found.version == version and found.digest == wanted:
            return Outcome(state)
        step = f" v{found.version} → v{version}" if found.version != version else ""
        return Outcome(state, Edit(file.path, data, fresh, f"refresh{step}: {file.purpose}"))
    if (found and found.version == version) or state.offered.get(file.path) == version:
        return Outcome(state)
    return _offer(file, tree, fresh, version, state)


def known_seal(data: bytes, path: str, version: int) -> Seal | None:
    """The seal of a file; a newer cub's is refused."""
    found = unseal(data)
    if found and found.version > version:
        raise NewerError("written", f"v{found.version}", f"writes v{version}", where=path)
    return found


def text_of(file: OwnFile, templates: TemplateSet, version: int, local: Sequence[str] = ()) -> str:
    """What a file with a template says; `local` are further lines of the .gitignore."""
    text = templates.file(file.template, version)
    return text + "".join(f"{line}\n" for line in local if file.path == GITIGNORE)


def local_lines(config: Config) -> tuple[str, ...]:
    """What a project keeps out of git because its configuration asks for that."""
    return tuple(line for line, _ in _unshared(config))


def local_files(config: Config) -> dict[str, str]:
    """The same files by their paths, each with the key that keeps it out of git."""
    return {f".cub{line}": key for line, key in _unshared(config)}


def _unshared(config: Config) -> Iterator[tuple[str, str]]:
    rows = (
        ("map.commit", MAP_LINES, config.map_commit),
        ("ledger.commit", LEDGER_LINES, config.ledger_commit),
        ("tasks.commit", TASKS_LINES, config.tasks_commit),
    )
    return ((line, key) for key, lines, shared in rows if not shared for line in lines)


def install_constitution(tree: Tree, templates: TemplateSet) -> Edit | None:
    """Copied once; whatever stands there afterwards is the user's and is never written."""
    if tree.read(CONSTITUTION) is not None:
        return None
    text = templates.file("constitution.md").encode()
    return Edit(CONSTITUTION, None, text, "install: operating principles, yours from now on")


def _offer(file: OwnFile, tree: Tree, fresh: bytes, version: int, state: State) -> Outcome:
    if not file.offer:
        hint = "delete it and run `cub init` to get cub's own"
        kept = PlanWarning("kept as you wrote it", file.path, None, hint)
        return Outcome(state.with_offer(file.path, version), warning=kept)
    old = tree.read(file.beside)
    if old is not None and not is_intact(old):
        hint = "it is yours: move it away, and cub puts its new text there"
        return Outcome(state, warning=PlanWarning("left as it is", file.beside, None, hint))
    edit = Edit(file.beside, old, fresh, f"offer v{version}: {file.path} is yours", local=True)
    warning = PlanWarning(
        f"kept as you edited it; the text of v{version} is in {file.beside}",
        file.path,
        hint="take over what you want from it, then delete it",
    )
    known = state.with_offer(file.path, version)
    return Outcome(known, edit if old != fresh else None, warning)


def is_intact(data: bytes) -> bool:
    """Whether a file is still as some cub wrote it."""
    found = unseal(data)
    return found is not None and found.intact
