"""Render the project map, compare it with the file, and plan its changes."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.actions.managed_files import MAP, MAP_FORMAT, is_intact, match_newline, parse_known_header
from cub.actions.section_edits import make_backup_name, merge_plans, plan_backup
from cub.edit.document import Document, split_lines
from cub.edit.file_header import add_file_header, strip_file_header
from cub.edit.markers import find_conflicts
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.errors import CubError, UsageError
from cub.files.file_tree import PlannedTree
from cub.files.internal_files import CacheWrite, ScheduleWrite, write_now
from cub.git.objects import read_merge_stages
from cub.project.config import CONFIG_FILE
from cub.project.project import Project
from cub.repomap.build import (
    FACTS_FILE,
    MAP_CACHE_FILE,
    MapContext,
    build_map_text,
    build_repo_map,
)
from cub.repomap.listing.file_listing import is_valid_ignore_pattern
from cub.repomap.map_types import (
    MIN_MAP_TOKENS,
    MapOmission,
    MapSettings,
    ProgressCallback,
    ignore_progress,
)
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.repomap.repo_map import RepoMap


CACHE_FOLDER = ".cub/cache"
# What earlier versions of cub left here goes as well.
CACHE_FILES = (".gitignore", "basis.json", FACTS_FILE, MAP_CACHE_FILE)
_BUDGET = re.compile(rb"of (\d+) tokens")
_HEADER_TEXT = "project map, about {estimate} of {tokens} tokens; `cub map` updates it"


class MapOptions(NamedTuple):
    """Hold what a command asks for beside the configuration, such as a `folder` below the root."""

    tokens: int | None = None
    exclude: tuple[str, ...] = ()
    symbols: bool = True
    folder: str = ""
    progress: ProgressCallback = ignore_progress
    schedule_write: ScheduleWrite = write_now


class MapFile(NamedTuple):
    """Hold a fresh map file, b"" if there is nothing to map, and what could not be read for it."""

    data: bytes
    omissions: tuple[MapOmission, ...]


def render_map_file(project: Project, options: MapOptions) -> MapFile:
    """Render the map of the project as a whole file with its header."""
    settings = resolve_map_settings(project, options)
    _require_min_tokens(settings.tokens, options)
    header_tokens = estimate_tokens(_add_map_header("", settings.tokens, settings.tokens).decode())
    context = _make_map_context(project, options)
    text, omissions = build_map_text(context, settings, header_tokens)
    return MapFile(_add_map_header(text, settings.tokens) if text else b"", omissions)


def collect_map(project: Project, options: MapOptions) -> RepoMap:
    """Return all that the map chooses from."""
    settings = resolve_map_settings(project, options)
    return build_repo_map(_make_map_context(project, options), settings)


def resolve_map_settings(project: Project, options: MapOptions) -> MapSettings:
    """Combine the configuration with what the command asks for."""
    config = project.config
    _require_patterns(config.map_exclude, options.exclude)
    tokens = config.map_tokens if options.tokens is None else options.tokens
    return MapSettings(tokens, (*config.map_exclude, *options.exclude), options.symbols)


def _require_min_tokens(tokens: int, options: MapOptions) -> None:
    if tokens >= MIN_MAP_TOKENS:
        return
    message, least = f"a map of {tokens} tokens is too small", f"use at least {MIN_MAP_TOKENS}"
    if options.tokens is not None:
        raise UsageError(message, hint=least)
    hint = (
        f"{least}, or 0 for no map"
        if tokens
        else "pass `cub map --tokens N` to generate one anyway"
    )
    raise CubError(f"map.tokens: {message}", where=CONFIG_FILE, hint=hint)


def _require_patterns(configured: tuple[str, ...], requested: tuple[str, ...]) -> None:
    for pattern in (*configured, *requested):
        if not is_valid_ignore_pattern(pattern):
            hint = "use `.gitignore` syntax"
            if pattern in configured:
                message = f"map.exclude: {pattern!r} is not a pattern"
                raise CubError(message, where=CONFIG_FILE, hint=hint)
            raise UsageError(f"--exclude: {pattern!r} is not a pattern", hint=hint)


def warn_unsaved_options(project: Project, options: MapOptions) -> tuple[PlanWarning, ...]:
    """Return a warning if the next `cub update` would generate another map."""
    if resolve_map_settings(project, options) == resolve_map_settings(project, MapOptions()):
        return ()
    hint = "to keep them, set `map.tokens` and `map.exclude` in .cub/config.yaml"
    return (
        PlanWarning("the next `cub update` will use the configured values again", MAP, hint=hint),
    )


def plan_map(project: Project, map_file: MapFile, warnings: tuple[PlanWarning, ...] = ()) -> Plan:
    """Plan a fresh map in place of the existing one; keep a user's lines in it in a backup.

    What git merges of two maps that both are cub's own needs no backup: the map is made from the
    files.
    """
    if not map_file.data:
        return _plan_map_removal(project, "there is nothing to map")
    data = project.tree.read(MAP)
    local = not project.config.map_commit
    if data is None:
        local = local or project.is_ignored(MAP)
        edit = FileEdit(MAP, None, map_file.data, "install: the project map", is_local=local)
        return Plan((edit,), warnings)
    if is_current(data, map_file):
        return Plan()

    fresh = match_newline(map_file.data, data)
    old, new = _parse_budget(data), _parse_budget(fresh)
    change = f", for {new} tokens instead of {old}" if old and old != new else ""
    edit = FileEdit(MAP, data, fresh, f"refresh: the project map{change}", is_local=local)
    plan = Plan((edit,), warnings)
    if is_written_by_cub(project, data):
        return plan
    path = make_backup_name(MAP, data)
    hint = "put what agents should know in AGENTS.md: the map is generated from the files"
    warning = PlanWarning(f"it was edited; the old text is kept in {path}", MAP, hint=hint)
    backup = plan_backup(project.tree, path, data, "keep the edited map", warning)
    return merge_plans([plan, backup])


def _plan_map_removal(project: Project, reason: str) -> Plan:
    data = project.tree.read(MAP)
    header = parse_known_header(data, MAP, MAP_FORMAT) if data is not None else None
    if header is None or not header.is_intact:
        return Plan()
    local = not project.config.map_commit
    return Plan((FileEdit(MAP, data, None, f"delete: {reason}", is_local=local),))


def plan_fresh_map(
    project: Project,
    progress: ProgressCallback = ignore_progress,
    schedule_write: ScheduleWrite = write_now,
    *,
    check: bool = False,
) -> tuple[Plan, Project]:
    """Plan a fresh map if the project wants one; return also the project with that map.

    With `check`, a stale map is only a warning: any commit may make one. An edited one is an edit.
    """
    old_data = project.tree.read(MAP)
    if project.config.map_tokens:
        options = MapOptions(progress=progress, schedule_write=schedule_write)
        map_file = render_map_file(project, options)
        plan = plan_map(project, map_file)
        if check and not plan.is_empty and old_data is not None and is_intact(old_data):
            return Plan((), (_make_stale_warning(old_data, map_file),)), project
    else:
        plan = _plan_map_removal(project, "map.tokens is 0")
    contents = {project.tree.resolve_path(edit.path): edit.after for edit in plan.edits}
    return plan, replace(project, tree=PlannedTree(project.tree, contents)) if contents else project


def _make_stale_warning(data: bytes, map_file: MapFile) -> PlanWarning:
    old, new = _parse_budget(data), _parse_budget(map_file.data)
    if not (old and new) or old == new:
        return PlanWarning("the map is older than the files", MAP, hint="`cub map` updates it")
    message = f"the map was generated for {old} tokens, but map.tokens is {new}"
    hint = (
        f"run `cub map` to generate it for {new} tokens, or `cub config set map.tokens "
        f"{old}` to keep it"
    )
    return PlanWarning(message, MAP, hint=hint)


def is_current(data: bytes, map_file: MapFile) -> bool:
    """Tell whether a file says what the fresh map says, even if its bytes were formatted."""
    header, body = parse_known_header(data, MAP, MAP_FORMAT), strip_file_header(map_file.data)
    is_same = header is not None and header.is_intact and header.matches(body)
    return is_same and _parse_budget(data) == _parse_budget(map_file.data)


def _parse_budget(data: bytes) -> int | None:
    """Return the budget in the header: a small project has the same map for any."""
    match = _BUDGET.search(data[:200])
    return int(match[1]) if match else None


def has_map_cache(project: Project) -> bool:
    """Tell whether an earlier map was cached, so that the next one costs little."""
    return (_get_cache_folder(project.root) / MAP_CACHE_FILE).exists()


def _get_cache_folder(root: Path) -> Path:
    """Return the project's cache folder, or the user's if cub has no folder here.

    A repository may contain a link: it is never followed to where a user's files are.
    """
    folder = root / CACHE_FOLDER
    inside = Path(os.path.realpath(folder.parent)).is_relative_to(root)
    if folder.parent.is_dir() and inside and not folder.is_symlink():
        return folder
    from platformdirs import user_cache_path

    name = sha256(root.as_posix().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return user_cache_path("cub") / "maps" / name


def _make_map_context(project: Project, options: MapOptions) -> MapContext:
    root, tree = project.root / options.folder, project.tree
    cache = _get_cache_folder(root)
    # Without a home folder, "~" would be a folder right here.
    schedule_write = options.schedule_write if cache.is_absolute() else discard_write
    prefix = f"{options.folder}/" if options.folder else ""
    planned = tree.files.items() if isinstance(tree, PlannedTree) else ()
    deleted = tuple(path for path, data in planned if data is None)
    return MapContext(root, cache, deleted, options.progress, schedule_write, prefix)


def discard_write(_write: CacheWrite) -> None:
    """Drop the write of a cache."""


def _add_map_header(body: str, tokens: int, estimate: int = 0) -> bytes:
    """Add a header, which states its own length too."""
    while True:
        description = _HEADER_TEXT.format(estimate=estimate, tokens=tokens)
        data = add_file_header(body, MAP_FORMAT, "<!-- {} -->", description=description)
        count = max(estimate, estimate_tokens(data.decode()))
        if count == estimate:
            return data
        estimate = count


def is_written_by_cub(project: Project, data: bytes) -> bool:
    """Tell whether cub wrote every line: the file is intact, or git is merging two that are."""
    if is_intact(data):
        return True
    document = Document(data)
    sides = filter(is_intact, read_merge_stages(project.root, project.tree.resolve_path(MAP)))
    merged_lines = {line.rstrip(b"\r\n") for side in sides for line in split_lines(side)}
    conflicts = find_conflicts(document)
    marker_lines = {n for c in conflicts for n in (c.start, c.base, c.middle, c.end - 1)}
    lines = (line for number, line in enumerate(document.lines) if number not in marker_lines)
    return bool(merged_lines) and all(line.rstrip(b"\r\n") in merged_lines for line in lines)
