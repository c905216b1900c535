"""A project as a command sees it: its instruction files, and the section each of them needs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import basename, dirname

from cub.actions.managed_files import CONSTITUTION, MANAGED_FILES, MAP, RUNLOOP
from cub.actions.section_specs import AvailableFiles, assign_section_specs
from cub.debug_log import log_debug
from cub.edit.document import Document
from cub.edit.file_header import parse_file_header
from cub.edit.file_imports import inline_file
from cub.edit.repair.unmarked_sections import UnmarkedSection, find_unmarked_sections
from cub.errors import CubError, NewerVersionError
from cub.files import FileTree, PlannedTree
from cub.project.agent_settings import get_gemini_file_names
from cub.project.checkout_state import STATE_FILE, CheckoutState
from cub.project.instruction_files import InstructionFile, read_instruction_files, remove_duplicates
from cub.project.project import Project
from cub.project.targets import GEMINI_MD, TARGETS, is_fully_managed, is_nested_target
from cub.prompt.section_text import SectionSpec, list_released_bodies, render_section
from cub.prompt.templates import TemplateSet, load_shipped_templates
from cub.store.store_paths import TASKS_FILE

_AUTHORS = {"cub": "as cub wrote it", "edited": "edited by hand", "unknown": "by who knows whom"}
SKILLS_FOLDER = ".claude/skills"


@dataclass(frozen=True, slots=True)
class ProjectState:
    """What is there and what is wanted. `files` has every target, every row of the table of
    targets, and every nested file that once was a target; `specs` has those that cub writes to;
    `inline_errors` says which texts can't be inlined, and why.
    """

    project: Project
    templates: TemplateSet
    targets: tuple[str, ...]
    available: AvailableFiles
    local_state: CheckoutState
    files: dict[str, InstructionFile]
    specs: dict[str, SectionSpec]
    inline_errors: tuple[CubError, ...] = ()

    @property
    def root(self) -> Path:
        """The project's root folder."""
        return self.project.root

    @property
    def tree(self) -> FileTree:
        """The project's files."""
        return self.project.tree

    @property
    def adds_at_top(self) -> bool:
        """Whether new sections go to the top of their files."""
        return self.project.config.placement == "top"

    @property
    def is_initialized(self) -> bool:
        """Whether `cub init` has been here, in this checkout or in another one."""
        if any(file.section for file in self.files.values()):
            return True
        # Before `cub init`, tasks alone bring the files for git along.
        tasks = self.tree.read(STATE_FILE) is None and basename(TASKS_FILE) in self.tree.list_names(
            dirname(TASKS_FILE)
        )
        own = (self.tree.read(f.path) for f in ((RUNLOOP,) if tasks else MANAGED_FILES))
        return any(data and parse_file_header(data) for data in own)

    def render_body(self, path: str) -> str:
        """What the section of a file says, or the file as a whole."""
        return render_section(self.templates, self.templates.version, self.specs[path])

    def find_spec(self, key: Hashable | None) -> SectionSpec | None:
        """What the file of this key has to say, whichever of its names it is written under."""
        found = (need for path, need in self.specs.items() if self.files[path].identity_key == key)
        return next(found, None)

    def list_faults(self) -> list[CubError]:
        """Why targets can't be written: broken, unreadable, or a newer cub's."""
        wanted = (file for path, file in self.files.items() if path in self.targets)
        found = [self.find_fault(file) for file in remove_duplicates(wanted)]
        return [fault for fault in found if fault]

    def find_unmarked_sections(self, file: InstructionFile) -> Sequence[UnmarkedSection]:
        """The sections of a file that have lost their markers; a file of cub's own has none."""
        if file.document is None or file.section:
            return ()
        if is_fully_managed(file.path) or parse_file_header(file.document.data):
            return ()
        need = self.find_spec(file.identity_key) or SectionSpec("agents", claude=True)
        return find_unmarked_sections(file.document, list_released_bodies(self.templates, need))

    def find_fault(self, file: InstructionFile) -> CubError | None:
        """Why one file's section can't be written.

        A section without markers counts only where another one would be written beside it.
        """
        if (
            file.document
            and self.find_spec(file.identity_key)
            and (parts := self.find_unmarked_sections(file))
        ):
            return make_unmarked_error(file.document, parts)
        version = self.templates.version
        if file.error or not file.section or file.section.version <= version:
            return file.error
        found = file.section.version
        where = f"{file.real_path}:{file.section.start + 1}"
        return NewerVersionError(
            "this section was written", f"v{found}", f"writes v{version}", where=where
        )


def make_unmarked_error(document: Document, parts: Sequence[UnmarkedSection]) -> CubError:
    """What is wrong with a file that has these sections without markers."""
    return CubError(
        "a managed section without its BEGIN and END markers",
        where=document.format_location(parts[0].start),
        hint="run `cub repair`: it puts them back, drops the text, or leaves it to you",
        details=[f"{document.format_location(p.start)}: {_EXTENT[p.is_proven]}" for p in parts],
    )


_EXTENT = {True: "cub's own text", False: "cub's comments; the text below them was edited"}


def load_project_state(
    project: Project,
    *,
    targets: Sequence[str] | None = None,
    constitution: bool = False,
    templates: TemplateSet | None = None,
) -> ProjectState:
    """Look at a project. `constitution`: count it as there, because the plan will install it."""
    templates = templates or load_shipped_templates()
    tree, wanted = project.tree, tuple(targets or project.config.targets)
    state = CheckoutState.parse(tree.read(STATE_FILE), templates.version)
    rows = (target.path for target in TARGETS)
    paths = (*rows, *wanted, *project.config.targets, *state.nested_sections)
    files = read_instruction_files(tree, dict.fromkeys(paths))
    known, unfit = _find_available(project, templates, wanted, constitution=constitution)
    needed, lost = _needs(files, wanted, known)
    for path in files:
        log_debug(f"{path}: {_describe_file(files[path], needed.get(path))}")
    return ProjectState(project, templates, wanted, known, state, files, needed, (*unfit, *lost))


def _describe_file(file: InstructionFile, spec: SectionSpec | None) -> str:
    """What was found in a file, and what its section is for."""
    if file.error:
        found = file.error.message
    elif file.section:
        place = f"section v{file.section.version} in line {file.section.start + 1}"
        found = f"{place}, {_AUTHORS[file.section.author]}"
    else:
        found = "no section" if file.exists else "no such file"
    return f"{found}; needs the {spec.template} text" if spec else f"{found}; needs none"


def _find_available(
    project: Project, templates: TemplateSet, wanted: tuple[str, ...], *, constitution: bool
) -> tuple[AvailableFiles, tuple[CubError, ...]]:
    """What can be referred to, and what can't be inlined; the `constitution` counts as there if the
    plan will install it.
    """
    tree, inline = project.tree, project.config.inline
    principles, map_ = tree.read(CONSTITUTION), tree.read(MAP)
    if principles is None and constitution:
        principles = templates.read_file("constitution.md").encode()

    unfit: list[CubError] = []

    def text(name: str, data: bytes | None, path: str, title: str) -> str:
        try:
            return inline_file(data, path, title) if data is not None and name in inline else ""
        except CubError as error:
            unfit.append(error)
            return ""

    known = AvailableFiles(
        constitution=principles is not None,
        map=map_ is not None or _is_local(project),
        skills=_has_skills(project),
        map_text=text("map", map_, MAP, "Project map"),
        constitution_text=text("constitution", principles, CONSTITUTION, "Operating principles"),
        gemini_files=get_gemini_file_names(tree) if GEMINI_MD.path in wanted else (),
    )
    return known, tuple(unfit)


def _is_local(project: Project) -> bool:
    """Whether there is a map that no commit has: a checkout may not have it yet."""
    config = project.config
    return bool(config.map_tokens) and not config.map_commit


def with_planned_files(state: ProjectState, planned: Mapping[str, bytes | None]) -> ProjectState:
    """The same project once `planned` (bytes by real path) is written."""
    project = replace(state.project, tree=PlannedTree(state.tree, planned))
    files = read_instruction_files(project.tree, state.files)
    needed, lost = _needs(files, state.targets, state.available)
    return replace(
        state, project=project, files=files, specs=needed, inline_errors=state.inline_errors or lost
    )


def _needs(
    files: dict[str, InstructionFile], targets: tuple[str, ...], available: AvailableFiles
) -> tuple[dict[str, SectionSpec], tuple[CubError, ...]]:
    """What is needed, and what stops those that would write it.

    Files that can't be read need nothing: their faults end the command anyway.
    """
    readable = tuple(path for path in targets if not files[path].error)
    try:
        return assign_section_specs(files, readable, available), ()
    except CubError as error:  # a nested file has nothing to point to
        at_root = tuple(path for path in readable if not is_nested_target(path))
        return assign_section_specs(files, at_root, available), (error,)


def _has_skills(project: Project) -> bool:
    """Whether the project has skills for Claude that other checkouts have too."""
    for name in sorted(project.tree.list_names(SKILLS_FOLDER)):
        path = f"{SKILLS_FOLDER}/{name}/SKILL.md"
        if "SKILL.md" in project.tree.list_names(f"{SKILLS_FOLDER}/{name}"):
            return not project.is_ignored(path)
    return False
