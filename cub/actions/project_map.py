"""The project map as a file of the project: made, compared, and put in place through a plan.

Whose lines the map's file holds: cub's alone, or a person's too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.actions.managed_files import MAP, MAP_FORMAT, is_intact, parse_known_header
from cub.actions.section_edits import BACKUP_FOLDER, merge_plans
from cub.edit.document import Document, split_lines
from cub.edit.file_header import add_file_header, parse_file_header
from cub.edit.merge_conflicts import MergeConflict, find_conflicts
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.edit.repair.merge_sides import SideName, iter_side_lines
from cub.errors import CubError, UsageError
from cub.files import PlannedTree
from cub.files.internal_files import CacheWrite, ScheduleWrite, write_now
from cub.git import read_merge_stages
from cub.project.config import CONFIG_FILE
from cub.project.project import Project
from cub.repomap.build import FACTS_FILE, MapContext, build_map_text, build_repo_map
from cub.repomap.listing.file_listing import is_valid_ignore_pattern
from cub.repomap.map_cache import FINGERPRINT_FILE, MAP_CACHE_FILE
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
CACHE_FILES = (".gitignore", FINGERPRINT_FILE, FACTS_FILE, MAP_CACHE_FILE)
_BUDGET = re.compile(rb"of (\d+) tokens")
_HEADER_TEXT = "project map, about {estimate} of {tokens} tokens; `cub map` renews it"


class MapOptions(NamedTuple):
    """What a command asks for beside the configuration; `folder` is a folder below the root.

    `schedule_write` is given each write of a cache.
    """

    tokens: int | None = None
    exclude: tuple[str, ...] = ()
    symbols: bool = True
    folder: str = ""
    progress: ProgressCallback = ignore_progress
    schedule_write: ScheduleWrite = write_now


class MapFile(NamedTuple):
    """A fresh map: the whole file, b"" for a project that has nothing to map, and what could not
    be read for it.
    """

    data: bytes
    omissions: tuple[MapOmission, ...]


def render_map_file(project: Project, options: MapOptions) -> MapFile:
    """The map of the project as it stands, as a whole file with its header."""
    settings = resolve_map_settings(project, options)
    _require_room(settings.tokens, options)
    text, notes = build_map_text(
        _make_map_context(project, options), settings, _header_tokens(settings.tokens)
    )
    return MapFile(_add_map_header(text, settings.tokens) if text else b"", notes)


def collect_map(project: Project, options: MapOptions) -> RepoMap:
    """All that the map chooses from."""
    return build_repo_map(
        _make_map_context(project, options), resolve_map_settings(project, options)
    )


def resolve_map_settings(project: Project, options: MapOptions) -> MapSettings:
    """The configuration, and what the command asks for besides."""
    config = project.config
    _require_patterns(config.map_exclude, options.exclude)
    tokens = config.map_tokens if options.tokens is None else options.tokens
    return MapSettings(tokens, (*config.map_exclude, *options.exclude), options.symbols)


def _require_room(tokens: int, options: MapOptions) -> None:
    if tokens >= MIN_MAP_TOKENS:
        return
    message, least = f"a map of {tokens} tokens says nothing", f"give it at least {MIN_MAP_TOKENS}"
    if options.tokens is not None:
        raise UsageError(message, hint=least)
    hint = f"{least}, or 0 for none" if tokens else "`cub map --tokens N` asks for one all the same"
    raise CubError(f"map.tokens: {message}", where=CONFIG_FILE, hint=hint)


def _require_patterns(lasting: tuple[str, ...], asked: tuple[str, ...]) -> None:
    for pattern in (*lasting, *asked):
        if not is_valid_ignore_pattern(pattern):
            hint = "write it as in a .gitignore"
            if pattern in lasting:
                raise CubError(
                    f"map.exclude: {pattern!r} is no pattern", where=CONFIG_FILE, hint=hint
                )
            raise UsageError(f"--exclude: {pattern!r} is no pattern", hint=hint)


def warn_unsaved_options(project: Project, options: MapOptions) -> tuple[PlanWarning, ...]:
    """A warning where the next `cub update` would draw another map."""
    if resolve_map_settings(project, options) == resolve_map_settings(project, MapOptions()):
        return ()
    hint = "`cub config set map.tokens N` and `map.exclude` in .cub/config.yaml last"
    return (PlanWarning("the next `cub update` goes by the configuration again", MAP, hint=hint),)


def plan_map(project: Project, map_file: MapFile, warnings: tuple[PlanWarning, ...] = ()) -> Plan:
    """Put a fresh map in place of what is there; a person's lines in it are kept in a backup.

    Sides of a merge that both are cub's own need no backup: the map is made from the files.
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

    fresh = map_file.data
    if Document(data).newline == b"\r\n":  # a checkout with autocrlf
        fresh = fresh.replace(b"\n", b"\r\n")
    drawn, due = _budget(data), _budget(fresh)
    budget = f", for {due} tokens in place of {drawn}" if drawn and drawn != due else ""
    edit = FileEdit(MAP, data, fresh, f"refresh: the project map{budget}", is_local=local)
    plan = Plan((edit,), warnings)
    return plan if is_written_by_cub(project, data) else merge_plans([plan, _backup(project, data)])


def _plan_map_removal(project: Project, reason: str) -> Plan:
    """An older map goes where there is nothing to map, or no map is wanted; an edited one stays."""
    data = project.tree.read(MAP)
    found = parse_known_header(data, MAP, MAP_FORMAT) if data is not None else None
    if found is None or not found.is_intact:
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
    """The plan of a fresh map where the project wants one, and the project with it.

    To `check`, a stale map is only told: any commit may make one. An edited or a torn one counts.
    """
    there = project.tree.read(MAP)
    if project.config.map_tokens:
        made = render_map_file(
            project, MapOptions(progress=progress, schedule_write=schedule_write)
        )
        plan = plan_map(project, made)
        if check and not plan.is_empty and there is not None and is_intact(there):
            return Plan((), (_stale_warning(there, made),)), project
    else:
        plan = _plan_map_removal(project, "map.tokens is 0")
    planned = {project.tree.resolve_path(edit.path): edit.after for edit in plan.edits}
    return plan, replace(project, tree=PlannedTree(project.tree, planned)) if planned else project


def _stale_warning(there: bytes, map_file: MapFile) -> PlanWarning:
    """Why the map that is there is not the one that is due: another budget, or other files."""
    drawn, due = _budget(there), _budget(map_file.data)
    if not (drawn and due) or drawn == due:
        return PlanWarning("the map is older than the files", MAP, hint="`cub map` renews it")
    message = f"the map was drawn for {drawn} tokens, and the configuration says {due}"
    hint = f"`cub config set map.tokens {drawn}` keeps that, `cub map` draws it for {due}"
    return PlanWarning(message, MAP, hint=hint)


def is_current(data: bytes, map_file: MapFile) -> bool:
    """Whether a file says what the fresh map says, whatever a formatter or git did to its bytes."""
    found, fresh = parse_known_header(data, MAP, MAP_FORMAT), parse_file_header(map_file.data)
    is_same = found is not None and found.is_intact and found == fresh
    return is_same and _budget(data) == _budget(map_file.data)


def _budget(data: bytes) -> int | None:
    """What the header tells of it: a small project has the same map for any."""
    found = _BUDGET.search(data[:200])
    return int(found[1]) if found else None


def _cache_of(root: Path) -> Path:
    """The project's own folder for caches, or the user's where cub has no folder here.

    A repository may bring a link: none is followed to where a person's files are.
    """
    folder = root / CACHE_FOLDER
    inside = Path(os.path.realpath(folder.parent)).is_relative_to(root)
    if folder.parent.is_dir() and inside and not folder.is_symlink():
        return folder
    from platformdirs import user_cache_path

    name = sha256(root.as_posix().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return user_cache_path("cub") / "maps" / name


def _backup(project: Project, data: bytes) -> Plan:
    path = f"{BACKUP_FOLDER}/.cub-map.md.{sha256(data).hexdigest()[:16]}.md"
    hint = "write what agents should know into AGENTS.md: the map is made from the files"
    warning = PlanWarning(f"it was edited; the old text is kept in {path}", MAP, hint=hint)
    if project.tree.read(path) == data:
        return Plan((), (warning,))
    return Plan((FileEdit(path, None, data, "keep the edited map", is_local=True),), (warning,))


def _make_map_context(project: Project, options: MapOptions) -> MapContext:
    root = project.root / options.folder
    cache = _cache_of(root)
    keep = options.schedule_write if cache.is_absolute() else _discard_write
    above = f"{options.folder}/" if options.folder else ""
    return MapContext(root, cache, _list_planned_deletions(project), options.progress, keep, above)


def _discard_write(_write: CacheWrite) -> None:
    """For a user without a home folder: "~" would be a folder right here."""


def _list_planned_deletions(project: Project) -> tuple[str, ...]:
    """Files that the plan so far deletes."""
    tree = project.tree
    if not isinstance(tree, PlannedTree):
        return ()
    return tuple(path for path, data in tree.files.items() if data is None)


def _header_tokens(tokens: int) -> int:
    return estimate_tokens(_add_map_header("", tokens, tokens).decode())


def _add_map_header(body: str, tokens: int, estimate: int = 0) -> bytes:
    """The file; its header tells its own length, too."""
    while True:
        says = _HEADER_TEXT.format(estimate=estimate, tokens=tokens)
        data = add_file_header(body, MAP_FORMAT, "<!-- {} -->", description=says)
        count = max(estimate, estimate_tokens(data.decode()))
        if count == estimate:
            return data
        estimate = count


def is_written_by_cub(project: Project, data: bytes) -> bool:
    """Whether cub wrote every line: the file is intact, or a merge of two that are."""
    if is_intact(data):
        return True
    document = Document(data)
    torn = find_conflicts(document)
    return _has_intact_sides(document, torn) or _is_gits(project, document, torn)


def _has_intact_sides(document: Document, torn: Sequence[MergeConflict]) -> bool:
    if not torn or any(conflict.middle is None for conflict in torn):
        return False
    names: list[SideName] = ["ours", "theirs"]
    if any(conflict.base is not None for conflict in torn):
        names.append("ancestor")
    sides = (iter_side_lines(document, torn, name) for name in names)
    return all(is_intact(b"".join(document.lines[n] for n in side)) for side in sides)


def _is_gits(project: Project, document: Document, torn: Sequence[MergeConflict]) -> bool:
    """Whether each line is one of the intact maps that git is merging; where it could, git has
    mixed their lines.
    """
    sides = filter(is_intact, read_merge_stages(project.root, project.tree.resolve_path(MAP)))
    known = {_bare(line) for side in sides for line in split_lines(side)}
    marks = {n for c in torn for n in (c.start, c.base, c.middle, c.end - 1)}
    lines = (line for number, line in enumerate(document.lines) if number not in marks)
    return bool(known) and all(_bare(line) in known for line in lines)


def _bare(line: bytes) -> bytes:
    return line.rstrip(b"\r\n")
