"""Find problems with instruction files: sections, names, hidden or repeated texts, and the map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cub.actions import plan_warnings
from cub.actions.agent_readers import warn_missed_texts
from cub.actions.doctor.findings import Finding
from cub.actions.managed_files import MAP
from cub.actions.project_map import discard_write, has_map_cache, plan_fresh_map
from cub.actions.project_state import ProjectState
from cub.actions.section_specs import ROOT_FILES
from cub.edit.plan import PlanWarning
from cub.errors import CubError, NewerVersionError
from cub.project.instruction_files import InstructionFile, remove_duplicates
from cub.repomap.listing.file_listing import list_files

_MAX_UNCACHED_FILES = 100


def find_section_problems(state: ProjectState) -> Iterator[Finding]:
    """Yield what is wrong with managed sections and their files."""
    for error in (*state.list_faults(), *state.inline_errors):
        is_newer = isinstance(error, NewerVersionError)
        yield Finding.from_error("D402" if is_newer else "D401", error)
    for file in remove_duplicates(state.files.values()):
        if file.section and not state.find_fault(file):
            yield from _find_outdated_section(state, file)
    yield from _make_findings("D406", plan_warnings.warn_unmanaged_sections(state))
    if state.is_initialized:
        yield from _make_findings("D405", plan_warnings.warn_missing_sections(state))
        yield from _make_findings("D405", plan_warnings.warn_missing_constitution(state))


def _make_findings(code: str, warnings: Iterable[PlanWarning]) -> Iterator[Finding]:
    return (Finding.from_warning(code, warning) for warning in warnings)


def _find_outdated_section(state: ProjectState, file: InstructionFile) -> Iterator[Finding]:
    section, version = file.section, state.templates.version
    spec = state.find_spec(file.identity_key)
    if section is None or spec is None:
        return
    line = section.start + 1
    if section.author == "edited":
        fix = "cub update --edited move"
        yield Finding("D404", "the managed section was edited", file.path, line, fix)
    elif not state.is_current(section, spec):
        older = f" (v{section.version}, this cub writes v{version})"
        what = "the managed section is out of date" + older * (section.version != version)
        yield Finding("D403", what, file.path, line, "cub update")


def find_file_problems(state: ProjectState) -> Iterator[Finding]:
    """Yield instruction files that agents don't read as intended."""
    links = _make_findings("D408", plan_warnings.warn_link_texts(state))
    twins = [*links, *_find_identical_texts(state)]
    yield from twins
    yield from _make_findings("D407", plan_warnings.warn_name_variants(state))
    yield from _make_findings("D407", plan_warnings.warn_case_variants(state))
    yield from _make_findings("D411", plan_warnings.warn_unread_files(state))
    if not twins:  # the fix of a copy or of a link lets agents read the text
        yield from _make_findings("D412", warn_missed_texts(state))
    yield from _make_findings("D413", plan_warnings.warn_duplicate_text(state))
    yield from _make_findings("D414", plan_warnings.warn_ignored_folder(state))
    yield from _make_findings("D415", plan_warnings.warn_tracked_local_files(state.project))


def _find_identical_texts(state: ProjectState) -> Iterator[Finding]:
    """Yield the files of the root that repeat the whole text of an earlier one."""
    seen: dict[bytes, InstructionFile] = {}
    for path in ROOT_FILES:
        file = state.files[path]
        first = seen.setdefault(file.user_bytes, file)
        if file.user_bytes and first.identity_key != file.identity_key:
            message = f"this file repeats the text of {first.path}; the two can drift apart"
            fix = f"replace the text with the line `@{first.path}`"
            yield Finding("D413", message, path, None, fix)


def find_stale_map(state: ProjectState) -> Iterator[Finding]:
    """Yield one finding if the map is not that of the files; nothing is written.

    In a large project without a cache it yields nothing: reading all files would cost seconds.
    """
    project = state.project
    has_map = project.tree.read(MAP) is not None and bool(project.config.map_tokens)
    is_small = has_map and len(list_files(state.project.root, ()).paths) <= _MAX_UNCACHED_FILES
    if not has_map or not (is_small or has_map_cache(project)):
        return
    try:
        plan, _ = plan_fresh_map(project, schedule_write=discard_write, check=True)
    except CubError as error:
        yield Finding.from_error("D416", error)
        return
    for warning in plan.warnings:
        yield Finding("D416", warning.message, warning.path, warning.line, "cub map")
    if plan.edits and not plan.warnings:
        yield Finding("D416", "the map was edited", MAP, None, "cub map")
