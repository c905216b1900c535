"""Describe a project for a command: its instruction files, and the section each of them needs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from posixpath import basename, dirname

from cub.actions.managed_files import CONSTITUTION, INLINED_FILES, MANAGED_FILES, MAP, RUNLOOP
from cub.actions.section_specs import AvailableFiles, assign_section_specs
from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.claude import CLAUDE_FOLDER_FILE
from cub.agent_profiles.gemini import get_gemini_file_names
from cub.debug_log import log_debug
from cub.edit.document import Document
from cub.edit.file_header import parse_file_header
from cub.edit.file_imports import inline_file
from cub.edit.repair.unmarked_sections import UnmarkedSection, find_unmarked_sections
from cub.edit.sections import Section
from cub.errors import CubError, NewerVersionError
from cub.files.file_tree import FileTree, PlannedTree
from cub.project.agent_reading import find_claude_files, list_default_targets
from cub.project.checkout_state import STATE_FILE, CheckoutState
from cub.project.instruction_files import InstructionFile, read_instruction_files, remove_duplicates
from cub.project.project import Project
from cub.project.targets import GEMINI_MD, TARGETS, is_fully_managed, is_nested_target
from cub.prompt.section_text import SectionSpec, list_released_bodies, render_section
from cub.prompt.templates import TemplateSet, load_shipped_templates
from cub.store.store_paths import TASKS_FILE

_AUTHORS = {"cub": "as cub wrote it", "edited": "edited manually", "unknown": "author unknown"}
SKILLS_FOLDER = ".claude/skills"


@dataclass(frozen=True, slots=True)
class ProjectState:
    """Hold what exists and what is needed.

    `files` has every target, every row of the table of targets, and every nested file that once was
    a target; `specs` has those that cub writes to; `inline_errors` says which texts can't be
    inlined, and why.
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
    def tree(self) -> FileTree:
        """Return the project's files."""
        return self.project.tree

    @property
    def adds_at_top(self) -> bool:
        """Tell whether new sections go to the top of their files."""
        return self.project.config.placement == "top"

    @property
    def is_initialized(self) -> bool:
        """Tell whether `cub init` has run in this checkout or in another one."""
        if any(file.section for file in self.files.values()):
            return True
        # Before `cub init`, tasks alone bring the files for git along.
        has_tasks = basename(TASKS_FILE) in self.tree.list_names(dirname(TASKS_FILE))
        has_only_tasks = has_tasks and self.tree.read(STATE_FILE) is None
        managed = (RUNLOOP,) if has_only_tasks else MANAGED_FILES
        contents = (self.tree.read(file.path) for file in managed)
        return any(data and parse_file_header(data) for data in contents)

    def render_spec(self, spec: SectionSpec) -> str:
        """Return the text of a section in the version of this cub's templates."""
        return render_section(self.templates, self.templates.version, spec)

    def is_current(self, section: Section, spec: SectionSpec) -> bool:
        """Tell whether a section says what this cub would write."""
        return section.is_current(self.render_spec(spec), self.templates.version)

    def find_spec(self, key: Hashable | None) -> SectionSpec | None:
        """Return the spec of the file with this key, whichever of its names it is written under."""
        specs = (spec for path, spec in self.specs.items() if self.files[path].identity_key == key)
        return next(specs, None)

    def get_spec(self, file: InstructionFile) -> SectionSpec:
        """Return the spec of a file, or one that fits any file if it is not a target."""
        return self.find_spec(file.identity_key) or SectionSpec("agents", claude=True)

    def list_faults(self) -> list[CubError]:
        """Return why targets can't be written: broken, unreadable, or a newer cub's."""
        targets = (file for path, file in self.files.items() if path in self.targets)
        faults = [self.find_fault(file) for file in remove_duplicates(targets)]
        return [fault for fault in faults if fault]

    def find_unmarked_sections(self, file: InstructionFile) -> Sequence[UnmarkedSection]:
        """Return the sections of a file without their markers; a file of cub's own has none."""
        if file.document is None or file.section:
            return ()
        if is_fully_managed(file.path) or parse_file_header(file.document.data):
            return ()
        load_bodies = partial(list_released_bodies, self.templates, self.get_spec(file))
        return find_unmarked_sections(file.document, load_bodies)

    def find_fault(self, file: InstructionFile) -> CubError | None:
        """Return why one file's section can't be written, or None.

        A section without markers counts only if another one would be written beside it.
        """
        is_written = file.document and self.find_spec(file.identity_key)
        if file.document and is_written and (parts := self.find_unmarked_sections(file)):
            return make_unmarked_error(file.document, parts)
        section, version = file.section, self.templates.version
        if file.error or not section or section.version <= version:
            return file.error
        where = f"{file.real_path}:{section.start + 1}"
        newer, ours = f"v{section.version}", f"writes v{version}"
        return NewerVersionError("this section was written", newer, ours, where=where)


def make_unmarked_error(document: Document, parts: Sequence[UnmarkedSection]) -> CubError:
    """Return the error for a file that has these sections without markers."""
    return CubError(
        "a managed section without its BEGIN and END markers",
        where=document.format_location(parts[0].start),
        hint="run `cub repair` to restore them, delete the text, or keep it as yours",
        details=[f"{document.format_location(p.start)}: {_describe_unmarked(p)}" for p in parts],
    )


def _describe_unmarked(part: UnmarkedSection) -> str:
    if part.similar:
        return f"cub's text with edits, {part.similar.share:.0%} of it unchanged"
    return "cub's own text" if part.is_proven else "cub's comments; the text below them was edited"


def list_targets(project: Project, *, is_hidden: bool = False) -> tuple[str, ...]:
    """Return the targets of the configuration, or else those that the project's files need.

    `is_hidden`: files outside of commits hide AGENTS.md from Claude Code.
    """
    if project.config.has_targets:
        return project.config.targets
    return list_default_targets(project.tree, is_hidden=is_hidden)


def load_project_state(
    project: Project,
    *,
    targets: Sequence[str] | None = None,
    constitution: bool = False,
    templates: TemplateSet | None = None,
) -> ProjectState:
    """Load the state of a project; with `constitution`, the plan will install that file.

    Without `targets`, it has those of the configuration, or the default ones.
    """
    templates = templates or load_shipped_templates()
    paths = tuple(targets or list_targets(project))
    local_state = CheckoutState.parse(project.tree.read(STATE_FILE), templates.version)
    table_paths = (target.path for target in TARGETS)
    all_paths = (*table_paths, *paths, *project.config.targets, *local_state.nested_sections)
    files = read_instruction_files(project.tree, dict.fromkeys(all_paths))
    available, errors = _find_available(project, templates, paths, constitution=constitution)
    specs, spec_errors = _assign_specs(files, paths, available)
    for path in files:
        log_debug(f"{path}: {_describe_file(files[path], specs.get(path))}")
    errors += spec_errors
    return ProjectState(project, templates, paths, available, local_state, files, specs, errors)


def _describe_file(file: InstructionFile, spec: SectionSpec | None) -> str:
    if file.error:
        status = file.error.message
    elif file.section:
        location = f"section v{file.section.version} in line {file.section.start + 1}"
        status = f"{location}, {_AUTHORS[file.section.author]}"
    else:
        status = "no section" if file.exists else "no such file"
    return f"{status}; needs the {spec.template} text" if spec else f"{status}; needs none"


def _find_available(
    project: Project, templates: TemplateSet, targets: tuple[str, ...], *, constitution: bool
) -> tuple[AvailableFiles, tuple[CubError, ...]]:
    tree, config = project.tree, project.config
    principles, map_data = tree.read(CONSTITUTION), tree.read(MAP)
    if principles is None and constitution:
        principles = templates.read_file("constitution.md").encode()
    errors: list[CubError] = []

    def inline(name: str, data: bytes | None) -> str:
        if data is None or name not in config.inline:
            return ""
        try:
            return inline_file(data, *INLINED_FILES[name])
        except CubError as error:
            errors.append(error)
            return ""

    available = AvailableFiles(
        constitution=principles is not None,
        # A map that no commit has counts even if this checkout does not have it yet.
        map=map_data is not None or (bool(config.map_tokens) and not config.map_commit),
        skills=_has_skills(project),
        map_text=inline("map", map_data),
        constitution_text=inline("constitution", principles),
        gemini_files=get_gemini_file_names(AgentFiles(tree)) if GEMINI_MD.path in targets else (),
        has_claude_folder_file=CLAUDE_FOLDER_FILE in find_claude_files(tree),
    )
    return available, tuple(errors)


def with_planned_files(state: ProjectState, planned: Mapping[str, bytes | None]) -> ProjectState:
    """Return the state of the same project after `planned` (bytes by real path) is written."""
    project = replace(state.project, tree=PlannedTree(state.tree, planned))
    files = read_instruction_files(project.tree, state.files)
    specs, errors = _assign_specs(files, state.targets, state.available)
    errors = state.inline_errors or errors
    return replace(state, project=project, files=files, specs=specs, inline_errors=errors)


def _assign_specs(
    files: dict[str, InstructionFile], targets: tuple[str, ...], available: AvailableFiles
) -> tuple[dict[str, SectionSpec], tuple[CubError, ...]]:
    """Return the specs, and what stops those that would write them.

    Files that can't be read need nothing: their faults end the command anyway.
    """
    readable = tuple(path for path in targets if not files[path].error)
    try:
        return assign_section_specs(files, readable, available), ()
    except CubError as error:  # a nested file has nothing to point to
        at_root = tuple(path for path in readable if not is_nested_target(path))
        return assign_section_specs(files, at_root, available), (error,)


def _has_skills(project: Project) -> bool:
    for name in sorted(project.tree.list_names(SKILLS_FOLDER)):
        path = f"{SKILLS_FOLDER}/{name}/SKILL.md"
        if "SKILL.md" in project.tree.list_names(f"{SKILLS_FOLDER}/{name}"):
            return not project.is_ignored(path)
    return False
