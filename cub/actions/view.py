"""A project as a command sees it: its instruction files, and the section each of them needs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import basename, dirname

from cub.actions.needs import Known, needs
from cub.actions.own_files import CONSTITUTION, MAP, OWN_FILES, RUNLOOP
from cub.debug_log import log_debug
from cub.edit.document import Document
from cub.edit.inlining import inlined
from cub.edit.owned import unseal
from cub.edit.repair.unmarked import Unmarked, find_unmarked
from cub.errors import CubError, NewerError
from cub.files import Planned, Tree
from cub.project.client_settings import context_file_names
from cub.project.project import Project
from cub.project.state import STATE, State
from cub.project.survey import InstructionFile, distinct, look
from cub.project.targets import GEMINI, TARGETS, is_nested, is_whole
from cub.prompt.instructions import Need, released_bodies, render
from cub.prompt.templates import TemplateSet, shipped
from cub.store.place import TASKS

_AUTHORS = {"cub": "as cub wrote it", "edited": "edited by hand", "unknown": "by who knows whom"}
SKILLS = ".claude/skills"


@dataclass(frozen=True, slots=True)
class View:
    """What is there and what is wanted. `files` has every target, every row of the table of
    targets, and every nested file that once was a target; `needs` has those that cub writes to;
    `unfit` says which texts can't be inlined, and why.
    """

    project: Project
    templates: TemplateSet
    targets: tuple[str, ...]
    known: Known
    state: State
    files: dict[str, InstructionFile]
    needs: dict[str, Need]
    unfit: tuple[CubError, ...] = ()

    @property
    def root(self) -> Path:
        """The project's root folder."""
        return self.project.root

    @property
    def tree(self) -> Tree:
        """The project's files."""
        return self.project.tree

    @property
    def top(self) -> bool:
        """Whether new sections go to the top of their files."""
        return self.project.config.placement == "top"

    @property
    def initialized(self) -> bool:
        """Whether `cub init` has been here, in this checkout or in another one."""
        if any(file.section for file in self.files.values()):
            return True
        # Before `cub init`, tasks alone bring the files for git along.
        tasks = self.tree.read(STATE) is None and basename(TASKS) in self.tree.names(dirname(TASKS))
        own = (self.tree.read(f.path) for f in ((RUNLOOP,) if tasks else OWN_FILES))
        return any(data and unseal(data) for data in own)

    def body(self, path: str) -> str:
        """What the section of a file says, or the file as a whole."""
        return render(self.templates, self.templates.version, self.needs[path])

    def need_of(self, key: Hashable | None) -> Need | None:
        """What the file of this key has to say, whichever of its names it is written under."""
        found = (need for path, need in self.needs.items() if self.files[path].key == key)
        return next(found, None)

    def faults(self) -> list[CubError]:
        """Why targets can't be written: broken, unreadable, or a newer cub's."""
        wanted = (file for path, file in self.files.items() if path in self.targets)
        found = [self.fault(file) for file in distinct(wanted)]
        return [fault for fault in found if fault]

    def unmarked(self, file: InstructionFile) -> Sequence[Unmarked]:
        """The sections of a file that have lost their markers; a file of cub's own has none."""
        if file.document is None or file.section:
            return ()
        if is_whole(file.path) or unseal(file.document.data):
            return ()
        need = self.need_of(file.key) or Need("agents", claude=True)
        return find_unmarked(file.document, released_bodies(self.templates, need))

    def fault(self, file: InstructionFile) -> CubError | None:
        """Why one file's section can't be written.

        A section without markers counts only where another one would be written beside it.
        """
        if file.document and self.need_of(file.key) and (parts := self.unmarked(file)):
            return unmarked_fault(file.document, parts)
        version = self.templates.version
        if file.error or not file.section or file.section.version <= version:
            return file.error
        found = file.section.version
        where = f"{file.real}:{file.section.start + 1}"
        return NewerError(
            "this section was written", f"v{found}", f"writes v{version}", where=where
        )


def unmarked_fault(document: Document, parts: Sequence[Unmarked]) -> CubError:
    """What is wrong with a file that has these sections without markers."""
    return CubError(
        "a managed section without its BEGIN and END markers",
        where=document.at(parts[0].start),
        hint="run `cub repair`: it puts them back, drops the text, or leaves it to you",
        details=[f"{document.at(p.start)}: {_EXTENT[p.proven]}" for p in parts],
    )


_EXTENT = {True: "cub's own text", False: "cub's comments; the text below them was edited"}


def view(
    project: Project,
    *,
    targets: Sequence[str] | None = None,
    constitution: bool = False,
    templates: TemplateSet | None = None,
) -> View:
    """Look at a project. `constitution`: count it as there, because the plan will install it."""
    templates = templates or shipped()
    tree, wanted = project.tree, tuple(targets or project.config.targets)
    state = State.parse(tree.read(STATE), templates.version)
    rows = (target.path for target in TARGETS)
    paths = (*rows, *wanted, *project.config.targets, *state.sections)
    files = look(tree, dict.fromkeys(paths))
    known, unfit = _known(project, templates, wanted, constitution=constitution)
    needed, lost = _needs(files, wanted, known)
    for path in files:
        log_debug(f"{path}: {_described(files[path], needed.get(path))}")
    return View(project, templates, wanted, known, state, files, needed, (*unfit, *lost))


def _described(file: InstructionFile, need: Need | None) -> str:
    """What was found in a file, and what its section is for."""
    if file.error:
        found = file.error.message
    elif file.section:
        place = f"section v{file.section.version} in line {file.section.start + 1}"
        found = f"{place}, {_AUTHORS[file.section.author]}"
    else:
        found = "no section" if file.exists else "no such file"
    return f"{found}; needs the {need.template} text" if need else f"{found}; needs none"


def _known(
    project: Project, templates: TemplateSet, wanted: tuple[str, ...], *, constitution: bool
) -> tuple[Known, tuple[CubError, ...]]:
    """What can be referred to, and what can't be inlined; the `constitution` counts as there if the
    plan will install it.
    """
    tree, inline = project.tree, project.config.inline
    principles, map_ = tree.read(CONSTITUTION), tree.read(MAP)
    if principles is None and constitution:
        principles = templates.file("constitution.md").encode()

    unfit: list[CubError] = []

    def text(name: str, data: bytes | None, path: str, title: str) -> str:
        try:
            return inlined(data, path, title) if data is not None and name in inline else ""
        except CubError as error:
            unfit.append(error)
            return ""

    known = Known(
        constitution=principles is not None,
        map=map_ is not None or _is_local(project),
        skills=_has_skills(project),
        map_text=text("map", map_, MAP, "Project map"),
        constitution_text=text("constitution", principles, CONSTITUTION, "Operating principles"),
        gemini=context_file_names(tree) if GEMINI.path in wanted else (),
    )
    return known, tuple(unfit)


def _is_local(project: Project) -> bool:
    """Whether there is a map that no commit has: a checkout may not have it yet."""
    config = project.config
    return bool(config.map_tokens) and not config.map_commit


def after(seen: View, planned: Mapping[str, bytes | None]) -> View:
    """The same project once `planned` (bytes by real path) is written."""
    project = replace(seen.project, tree=Planned(seen.tree, planned))
    files = look(project.tree, seen.files)
    needed, lost = _needs(files, seen.targets, seen.known)
    return replace(seen, project=project, files=files, needs=needed, unfit=seen.unfit or lost)


def _needs(
    files: dict[str, InstructionFile], targets: tuple[str, ...], known: Known
) -> tuple[dict[str, Need], tuple[CubError, ...]]:
    """What is needed, and what stops those that would write it.

    Files that can't be read need nothing: their faults end the command anyway.
    """
    readable = tuple(path for path in targets if not files[path].error)
    try:
        return needs(files, readable, known), ()
    except CubError as error:  # a nested file has nothing to point to
        at_root = tuple(path for path in readable if not is_nested(path))
        return needs(files, at_root, known), (error,)


def _has_skills(project: Project) -> bool:
    """Whether the project has skills for Claude that other checkouts have too."""
    for name in sorted(project.tree.names(SKILLS)):
        path = f"{SKILLS}/{name}/SKILL.md"
        if "SKILL.md" in project.tree.names(f"{SKILLS}/{name}"):
            return not project.ignores(path)
    return False
