"""Plan what more agents need to read the instructions; only if the user asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from cub.actions.managed_files import CONSTITUTION, INLINED_FILES, MAP
from cub.actions.project_state import ProjectState
from cub.actions.section_specs import AGENTS, CLAUDE
from cub.agent_profiles.agent_files import AgentFiles
from cub.agent_profiles.agent_profile import AgentProfile, RequiredFiles
from cub.agent_profiles.codex import CODEX
from cub.agent_profiles.pi import PI
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.config_edit.string_list import edit_string_list, read_string_list
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files.file_tree import FileTree, PlannedTree
from cub.project.agent_reading import needs_claude_md
from cub.project.config import CONFIG_FILE
from cub.project.config_writer import set_config_value
from cub.project.instruction_files import InstructionFile
from cub.project.project import Project
from cub.project.targets import GEMINI_MD, normalize_target


def plan_inlining(project: Project, agents: Collection[str]) -> tuple[Plan, Project]:
    """Plan what Codex and pi need, as they resolve no imports: all texts in the sections.

    The project comes back as the plan leaves it.
    """
    missing = [name for name in INLINED_FILES if name not in project.config.inline]
    names = " and ".join(one.title for one in (CODEX, PI) if one.name in agents)
    if not names or not missing:
        return Plan(), project
    inline = (*project.config.inline, *missing)
    before = project.tree.read(CONFIG_FILE)
    after = set_config_value(before, "inline", [*inline])
    added = ", ".join(INLINED_FILES[name][0] for name in missing)
    plan = Plan((FileEdit(CONFIG_FILE, before, after, f"let {names} read {added}"),))
    config, tree = replace(project.config, inline=inline), PlannedTree(project.tree, plan.contents)
    return plan, replace(project, config=config, tree=tree)


def list_agent_targets(
    project: Project, agents: Collection[str], *, is_hidden: bool = False
) -> list[str]:
    """Return the instruction files at the root that agents need beside the project's targets.

    `is_hidden`: files outside of commits hide AGENTS.md from Claude Code.
    """
    targets, added = project.config.targets, []
    if "codex" in agents and AGENTS not in targets:
        added.append(AGENTS)
    has_agents_md = AGENTS in (*targets, *added)
    if "claude" in agents and CLAUDE not in targets:
        needs_own = not has_agents_md or needs_claude_md(project.tree, is_hidden=is_hidden)
        added += [CLAUDE] if needs_own else []
    return added


def plan_agent_settings(state: ProjectState, agents: Collection[str]) -> Plan:
    """Plan an edit for each settings file that lacks something; raise all faults at once."""
    edits, faults = [], []
    for profile in NAMED_PROFILES:
        try:
            edits += _plan_edit(state, profile) if profile.name in agents else []
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return Plan(tuple(edits))


def warn_dangling_settings(tree: FileTree, gone: Collection[str]) -> Iterator[PlanWarning]:
    """Warn of settings that name files which are `gone`; settings are the user's, and stay."""
    files = AgentFiles(tree)
    for reading in filter(None, (profile.reading_list for profile in NAMED_PROFILES)):
        location = reading.locate(tree)
        listed = files.read_list(f"{files.root}/{location.path}", location.keys, location.format)
        for name in listed or ():
            if normalize_target(name) in gone:
                hint = f"remove it from `{'.'.join(location.keys)}`, or create a new {name}"
                message = f"this still names {name}, which will be deleted"
                yield PlanWarning(message, location.path, hint=hint)


def _plan_edit(state: ProjectState, profile: AgentProfile) -> list[FileEdit]:
    reading = profile.reading_list
    if not reading:
        return []
    location = reading.locate(state.tree)
    before = state.tree.read(location.path)
    data = reading.new_file if before is None else before
    files = _find_required_files(state)
    required = reading.select_files(files)
    after = edit_string_list(
        data, location, required, default=reading.default, removed_texts=files.unneeded
    )
    if after == data:
        return []
    listed = {normalize_target(text) for text in read_string_list(data, location) or ()}
    added = ", ".join(path for path in required if path not in listed)
    path = state.tree.resolve_path(location.path)
    reason = f"let {profile.title} read {added or 'each file once'}"
    return [FileEdit(path, before, after, reason)]


def _find_required_files(state: ProjectState) -> RequiredFiles:
    paths = [path for path in (AGENTS, CLAUDE) if path in state.specs]
    paths = paths or [path for path in (AGENTS, CLAUDE) if state.files[path].exists]
    entry, available = tuple(_find_open_name(state, path) for path in paths[:1]), state.available
    in_own_file = {  # in a file of its own, and not in the section itself
        CONSTITUTION: available.constitution and not available.constitution_text,
        MAP: available.map and not available.map_text,
    }
    references = tuple(path for path in in_own_file if in_own_file[path])
    texts = {CONSTITUTION: available.constitution_text, MAP: available.map_text}
    unneeded = [path for path in texts if texts[path]]
    unneeded += [path for path in (AGENTS, CLAUDE) if _is_gone(state, path)]
    gemini, whole = state.files[GEMINI_MD.path], _list_redirect_files(state) or entry
    is_imported = any(_is_imported(gemini, state.files[path]) for path in paths[:1])
    return RequiredFiles(() if is_imported else entry, whole, references, tuple(unneeded))


def _is_gone(state: ProjectState, path: str) -> bool:
    """Tell whether no such file, and none is made or left out of this checkout."""
    file = state.files[path]
    is_left_out = file.missing is not None and file.missing.is_outside_checkout
    return not (path in state.specs or file.is_present or is_left_out)


def _find_open_name(state: ProjectState, path: str) -> str:
    """Return the name to open for the text of `path`: of a flattened link, that of its target."""
    return state.files[path].real_path if state.tree.resolve_path(path) == path else path


def _is_imported(gemini: InstructionFile, entry: InstructionFile) -> bool:
    """Return whether GEMINI.md imports the other file, or is that file."""
    same = gemini.exists and gemini.identity == entry.identity
    return same or entry.path in gemini.imported_paths


def _list_redirect_files(state: ProjectState) -> tuple[str, ...]:
    """Return the files to read where AGENTS.md sends its readers to CLAUDE.md; else none.

    AGENTS.md is one of them if it has text of the user.
    """
    need = state.specs.get(AGENTS)
    if need is None or not need.read_first:
        return ()
    return (AGENTS, CLAUDE) if state.files[AGENTS].user_bytes else (CLAUDE,)
