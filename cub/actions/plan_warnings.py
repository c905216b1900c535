"""Warn of files that a plan leaves alone, or that an agent reads only in part."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from cub.actions.managed_files import CONSTITUTION, CURSOR_RULE, MAP, map_local_files
from cub.actions.project_state import ProjectState
from cub.agent_profiles.agent_files import AgentFiles, LoadedFile
from cub.agent_profiles.claude import CLAUDE_LOCAL_FILE
from cub.agent_profiles.codex import CODEX, CODEX_MAX_BYTES, CODEX_OVERRIDE
from cub.agent_profiles.profiles import AGENT_TITLES
from cub.edit.document import Document
from cub.edit.file_header import parse_file_header
from cub.edit.plan import Plan, PlanWarning
from cub.edit.sections import find_section_or_none
from cub.files.file_tree import FileTree, MissingFile, PlannedTree
from cub.git.tracked_files import filter_tracked_files, find_flagged_files
from cub.project.agent_reading import find_agent_reading, list_loaded_files
from cub.project.instruction_files import InstructionFile, read_link_target, remove_duplicates
from cub.project.project import Project
from cub.project.targets import (
    AGENTS_MD,
    CLAUDE_MD,
    TARGETS,
    find_target,
    is_fully_managed,
    is_nested_target,
    list_reading_agents,
)
from cub.prompt.section_text import recognize_section


def warn_missing_sections(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield the sections and files that a user deleted: `update` reports, `init` restores them."""
    hint = "run `cub init` to restore it, or remove it from `targets` in .cub/config.yaml"
    for path in state.specs:
        file = state.files[path]
        if file.missing:
            yield _warn_missing_file(file.missing)
        elif not file.exists:
            yield PlanWarning("this file is missing", path, hint=hint)
        elif file.section is None and not is_fully_managed(path):
            yield PlanWarning("the managed section is missing", file.real_path, hint=hint)


def warn_missing_constitution(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield a warning if the constitution is gone, and a section still has something of it."""
    is_gone = not state.available.constitution
    if is_gone and any(_has_constitution(state, path) for path in state.specs):
        message = "this file is missing, so the sections no longer refer to it"
        hint = "run `cub init` to install cub's version; git may have yours"
        yield PlanWarning(message, CONSTITUTION, hint=hint)


def _has_constitution(state: ProjectState, path: str) -> bool:
    """Tell whether a file refers to the constitution, or has its text in a section of cub's own."""
    file, spec = state.files[path], state.specs[path]
    if file.document and is_fully_managed(path):
        return CONSTITUTION.encode() in file.document.data
    if file.section is None or file.section_mentions(CONSTITUTION):
        return file.section is not None
    section = file.section
    is_inlined = spec.shared and "constitution" in state.project.config.inline
    if not is_inlined or section.author != "cub":
        return False
    return recognize_section(state.templates, section.version, section.digest, spec) is None


def warn_recreated_files(state: ProjectState, paths: Iterable[str]) -> Iterator[PlanWarning]:
    """Yield the instruction files and `paths` that `init` creates although git has them."""
    for path in dict.fromkeys((*state.specs, *paths)):
        file = state.files.get(path)
        missing = file.missing if file else state.tree.find_missing(path)
        if missing and not missing.is_outside_checkout:
            message = "git has this file, deleted here: a new one replaces it"
            yield PlanWarning(message, path, hint=missing.hint)


def _warn_missing_file(missing: MissingFile) -> PlanWarning:
    if missing.is_outside_checkout:
        message = f"not updated: git excludes it from this checkout ({missing.reason})"
        return PlanWarning(message, missing.path, hint=missing.hint)
    hint = f"{missing.hint}; `cub init` creates a new one; "
    hint += "or remove it from `targets` in .cub/config.yaml"
    return PlanWarning("this file is missing", missing.path, hint=hint)


ONE_FILE_HINT = "to use one file for all agents, run `mv -f CLAUDE.md AGENTS.md`, then `cub init`"


def warn_changed_reading(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield a warning if a new AGENTS.md keeps agents from a CLAUDE.md that they read until now."""
    agents, claude = state.files[AGENTS_MD.path], state.files[CLAUDE_MD.path]
    if agents.path in state.specs and not agents.is_present and claude.user_bytes:
        message = "opencode and Amp now read this file instead of CLAUDE.md"
        hint = f"its section asks them to open CLAUDE.md; {ONE_FILE_HINT}"
        yield PlanWarning(message, agents.path, hint=hint)


def warn_left_out_agents(names: Sequence[str]) -> Iterator[PlanWarning]:
    """Yield the agents that `--agent all` leaves out, and how to set one up anyway."""
    if names:
        titles = ", ".join(AGENT_TITLES[name] for name in names)
        message = f"left out {titles}: not installed, and without files in this project"
        yield PlanWarning(message, "--agent all", hint=f"run `cub init --agent {names[0]}`")


def warn_odd_targets(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield names of another case, targets without a folder, and sections without a target."""
    yield from warn_case_variants(state)
    yield from warn_unmanaged_sections(state)
    yield from warn_duplicate_text(state)


def warn_case_variants(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield the files that have the name of a target in another case."""
    for path, file in state.files.items():
        if file.case_variant and path in (*state.targets, AGENTS_MD.path):
            yield PlanWarning(
                f"skipped: on case-insensitive file systems it is the same file as {path}",
                posixpath.join(posixpath.dirname(path), file.case_variant),
                hint=f"rename it to {posixpath.basename(path)}, then run `cub init`",
            )


def warn_name_variants(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield files that differ from an instruction file beside them in case alone."""
    for path in (*(target.path for target in TARGETS), CODEX_OVERRIDE, CLAUDE_LOCAL_FILE):
        folder, name = posixpath.split(path)
        names = state.tree.list_names(folder)
        variants = {other for other in names if other.lower() == name.lower()} - {name}
        for other in sorted(variants) if name in names else ():
            message = f"macOS and Windows can't keep this file beside {name}"
            where = posixpath.join(folder, other)
            yield PlanWarning(
                message, where, hint=f"move its text to {path}, then `git rm {where}`"
            )


def warn_link_texts(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield files that contain nothing but the path of another instruction file."""
    for path, file in state.files.items():
        data = (state.tree.read(path) or b"") if file.exists else b""
        target = read_link_target(path, data)
        is_link = state.tree.resolve_path(path) != path
        if target != path and find_target(target) and not is_link:
            text = data.strip().decode("utf-8", "replace")
            agent = next(iter(list_reading_agents(path)), "an agent")
            message = f"this file contains only the text `{text}`: {agent} reads that path alone"
            hint = f"replace the text with `@{text}`; if git has a symbolic link here, "
            hint += f"`git config core.symlinks true && git checkout -- {path}`"
            yield PlanWarning(message, path, 1, hint)


def warn_unmanaged_sections(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield targets without a directory, and sections without a target."""
    for path, file in state.files.items():
        is_nested = path in state.targets and is_nested_target(path)
        if file.lacks_folder and is_nested and not file.case_variant:
            hint = "remove it from `targets` in .cub/config.yaml"
            warning = PlanWarning("its directory is missing", path, hint=hint)
            yield _warn_missing_file(file.missing) if file.missing else warning
    for file in list_orphaned_sections(state):
        hint = "delete the section, or add the file to `targets` in .cub/config.yaml"
        yield PlanWarning("cub does not update this section", file.path, None, hint)
    rule = state.files[CURSOR_RULE.path].document
    if CURSOR_RULE.path not in state.specs and rule and parse_file_header(rule.data):
        hint = "delete it, or add it to `targets` in .cub/config.yaml"
        yield PlanWarning("cub does not update this file", CURSOR_RULE.path, None, hint)


def warn_duplicate_text(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield the files that repeat the text of AGENTS.md to an agent that reads both."""
    for path in state.specs:
        target, document = find_target(path), state.files[path].document
        if is_fully_managed(path) and document and not parse_file_header(document.data):
            continue  # somebody else's file of that name
        if target and target.also_reads_agents_md and AGENTS_MD.path in state.specs:
            agent = target.also_reads_agents_md
            message = f"{agent} also reads AGENTS.md, and gets the same text twice"
            hint = f"remove {path} from `targets`, unless another agent reads only this file"
            yield PlanWarning(message, path, hint=hint)


def list_orphaned_sections(state: ProjectState) -> list[InstructionFile]:
    """Return the files with a section that no target asks for."""
    files = remove_duplicates(state.files.values())
    return [file for file in files if file.section and not state.find_spec(file.identity_key)]


def warn_tracked_local_files(project: Project) -> Iterator[PlanWarning]:
    """Yield the files that should stay local, and that git already tracks."""
    local = map_local_files(project.config)
    for path in () if project.is_commit else filter_tracked_files(project.root, [*local]):
        message = f"git tracks this file, so `{local[path]}: false` does not keep it out of commits"
        yield PlanWarning(f"{message} yet", path, hint=f"run `git rm --cached {path}`, then commit")


def add_flag_warnings(project: Project, plan: Plan) -> Plan:
    """Return `plan` with a warning for each file whose change git is told not to show."""
    paths = [edit.path for edit in plan.shared_edits if edit.before is not None]
    warnings = (
        PlanWarning(
            f"git hides this change: the file is marked {flag}",
            path,
            hint=f"run `git update-index --no-{flag} {path}` to show it in `git status`",
        )
        for path, flag in find_flagged_files(project.root, paths).items()
    )
    return replace(plan, warnings=(*plan.warnings, *warnings))


def warn_ignored_folder(state: ProjectState) -> Iterator[PlanWarning]:
    """Yield a warning if git ignores what the sections refer to: other checkouts lack it."""
    lacking = "other checkouts will not have what the sections refer to"
    if state.project.is_ignored(CONSTITUTION):
        hint = (
            "remove .cub from your .gitignore; .cub/.gitignore already excludes cub's local files"
        )
        yield PlanWarning(f"git ignores this directory: {lacking}", ".cub", hint=hint)
    elif state.available.map and state.project.config.map_commit and state.project.is_ignored(MAP):
        hint = "remove it from your .gitignore, or set `map: {commit: false}`"
        yield PlanWarning(f"git ignores this file: {lacking}", MAP, hint=hint)


UNREAD_HINT = "move parts of it to files that agents open when needed, "
UNREAD_HINT += "or set `project_doc_max_bytes` in ~/.codex/config.toml"


def find_cut_file(tree: FileTree, path: str) -> LoadedFile | None:
    """Return what Codex reads of a file if that is not all of it; None if it is, or nothing.

    Its limit covers all AGENTS.md files together, from the root down to the folder that it works
    in. The user's own settings don't count.
    """
    files = AgentFiles(tree, folder=posixpath.dirname(path))
    loads = list_loaded_files(find_agent_reading(CODEX.name), files)
    return next((one for one in loads if one.is_cut and files.shorten(one.path) == path), None)


def warn_unread_files(state: ProjectState, plan: Plan = Plan()) -> Iterator[PlanWarning]:  # noqa: B008 - frozen
    """Yield the files that Codex does not read to their end after `plan` is applied."""
    tree = PlannedTree(state.tree, plan.contents)
    for path in state.specs:
        if (file := find_cut_file(tree, path)) is None:
            continue
        limit, document = file.max_bytes or 0, Document(file.data, path)
        section = find_section_or_none(document)
        if section and len(document.get_bytes_before(section.end)) > limit:
            yield _make_unread_warning(state.files[path], section.start + 1)
        else:
            unread = len(document.data) - limit
            message = f"Codex reads this file without its last {unread:,} bytes"
            message += "" if is_nested_target(path) else ", and no AGENTS.md in a subdirectory"
            yield PlanWarning(message, path, hint=UNREAD_HINT)


def _make_unread_warning(file: InstructionFile, line: int) -> PlanWarning:
    limit = f"{CODEX_MAX_BYTES // 1024} KiB"
    if is_nested_target(file.path):
        message = (
            f"Codex reads only {limit} of AGENTS.md files from the root down, not this section"
        )
        return PlanWarning(message, file.path, line, "shorten the AGENTS.md files above it")
    message = f"Codex reads only the first {limit} of this file, and the section ends after that"
    if file.section:
        hint = "move the section, with its markers, to the top of the file, or split the file"
    else:
        hint = "run `cub remove`, `cub config set placement top`, and `cub init` to put it first; "
        hint += "or split the file"
    return PlanWarning(message, file.path, line, hint)
