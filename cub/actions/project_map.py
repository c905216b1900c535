"""The project map as a file of the project: made, compared, and put in place through a plan."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cub.actions.own_files import MAP, MAP_FORMAT, is_intact, known_seal
from cub.actions.section_edits import BACKUPS, merged
from cub.edit.document import Document
from cub.edit.owned import seal, unseal
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, UsageError
from cub.files import Planned
from cub.files.private import Keep, Write, at_once
from cub.project.config import CONFIG
from cub.project.project import Project
from cub.repomap.build import FACTS, Workshop, full_map, map_text
from cub.repomap.last import BASIS, LAST
from cub.repomap.listing.patterns import is_pattern
from cub.repomap.notes import Note
from cub.repomap.progress import Progress, no_progress
from cub.repomap.settings import LEAST_TOKENS, MapSettings
from cub.tokens import estimate_tokens

if TYPE_CHECKING:
    from cub.repomap.survey import RepoMap

CACHE = ".cub/cache"
CACHES = (".gitignore", BASIS, FACTS, LAST)
_BUDGET = re.compile(rb"of (\d+) tokens")
_SAYS = "project map, about {estimate} of {tokens} tokens; `cub map` renews it"


class Wanted(NamedTuple):
    """What a command asks for beside the configuration; `part` is a folder below the root.

    `keep` is given each write of a cache.
    """

    tokens: int | None = None
    exclude: tuple[str, ...] = ()
    symbols: bool = True
    part: str = ""
    progress: Progress = no_progress
    keep: Keep = at_once


class Made(NamedTuple):
    """A fresh map: the whole file, b"" for a project that has nothing to map, and what could not
    be read for it.
    """

    data: bytes
    notes: tuple[Note, ...]


def make_map(project: Project, wanted: Wanted) -> Made:
    """The map of the project as it stands, as a whole file with its header."""
    settings = settings_of(project, wanted)
    _require_room(settings.tokens, wanted)
    text, notes = map_text(_shop(project, wanted), settings, _header_tokens(settings.tokens))
    return Made(_sealed(text, settings.tokens) if text else b"", notes)


def everything(project: Project, wanted: Wanted) -> RepoMap:
    """All that the map chooses from."""
    return full_map(_shop(project, wanted), settings_of(project, wanted))


def settings_of(project: Project, wanted: Wanted) -> MapSettings:
    """The configuration, and what the command asks for besides."""
    config = project.config
    _require_patterns(config.map_exclude, wanted.exclude)
    tokens = config.map_tokens if wanted.tokens is None else wanted.tokens
    return MapSettings(tokens, (*config.map_exclude, *wanted.exclude), wanted.symbols)


def _require_room(tokens: int, wanted: Wanted) -> None:
    if tokens >= LEAST_TOKENS:
        return
    message, least = f"a map of {tokens} tokens says nothing", f"give it at least {LEAST_TOKENS}"
    if wanted.tokens is not None:
        raise UsageError(message, hint=least)
    hint = f"{least}, or 0 for none" if tokens else "`cub map --tokens N` asks for one all the same"
    raise CubError(f"map.tokens: {message}", where=CONFIG, hint=hint)


def _require_patterns(lasting: tuple[str, ...], asked: tuple[str, ...]) -> None:
    for pattern in (*lasting, *asked):
        if not is_pattern(pattern):
            hint = "write it as in a .gitignore"
            if pattern in lasting:
                raise CubError(f"map.exclude: {pattern!r} is no pattern", where=CONFIG, hint=hint)
            raise UsageError(f"--exclude: {pattern!r} is no pattern", hint=hint)


def unlasting(project: Project, wanted: Wanted) -> tuple[PlanWarning, ...]:
    """A warning where the next `cub update` would draw another map."""
    if settings_of(project, wanted) == settings_of(project, Wanted()):
        return ()
    hint = "`cub config set map.tokens N` and `map.exclude` in .cub/config.yaml last"
    return (PlanWarning("the next `cub update` goes by the configuration again", MAP, hint=hint),)


def plan_map(project: Project, made: Made, warnings: tuple[PlanWarning, ...] = ()) -> Plan:
    """Put a fresh map in place of what is there; a person's lines in it are kept in a backup.

    Sides of a merge that both are cub's own need no backup: the map is made from the files.
    """
    if not made.data:
        return _withdrawn(project, "there is nothing to map")
    data = project.tree.read(MAP)
    local = not project.config.map_commit
    if data is None:
        local = local or project.ignores(MAP)
        edit = Edit(MAP, None, made.data, "install: the project map", local=local)
        return Plan((edit,), warnings)
    if is_current(data, made):
        return Plan()
    from cub.actions.map_author import is_cubs

    fresh = made.data
    if Document(data).newline == b"\r\n":  # a checkout with autocrlf
        fresh = fresh.replace(b"\n", b"\r\n")
    drawn, due = _budget(data), _budget(fresh)
    budget = f", for {due} tokens in place of {drawn}" if drawn and drawn != due else ""
    edit = Edit(MAP, data, fresh, f"refresh: the project map{budget}", local=local)
    plan = Plan((edit,), warnings)
    return plan if is_cubs(project, data) else merged([plan, _backup(project, data)])


def _withdrawn(project: Project, reason: str) -> Plan:
    """An older map goes where there is nothing to map, or no map is wanted; an edited one stays."""
    data = project.tree.read(MAP)
    found = known_seal(data, MAP, MAP_FORMAT) if data is not None else None
    if found is None or not found.intact:
        return Plan()
    local = not project.config.map_commit
    return Plan((Edit(MAP, data, None, f"delete: {reason}", local=local),))


def drawn_map(
    project: Project,
    progress: Progress = no_progress,
    keep: Keep = at_once,
    *,
    check: bool = False,
) -> tuple[Plan, Project]:
    """The plan of a fresh map where the project wants one, and the project with it.

    To `check`, a stale map is only told: any commit may make one. An edited or a torn one counts.
    """
    there = project.tree.read(MAP)
    if project.config.map_tokens:
        made = make_map(project, Wanted(progress=progress, keep=keep))
        plan = plan_map(project, made)
        if check and not plan.empty and there is not None and is_intact(there):
            return Plan((), (_stale_warning(there, made),)), project
    else:
        plan = _withdrawn(project, "map.tokens is 0")
    planned = {project.tree.real(edit.path): edit.after for edit in plan.edits}
    return plan, replace(project, tree=Planned(project.tree, planned)) if planned else project


def _stale_warning(there: bytes, made: Made) -> PlanWarning:
    """Why the map that is there is not the one that is due: another budget, or other files."""
    drawn, due = _budget(there), _budget(made.data)
    if not (drawn and due) or drawn == due:
        return PlanWarning("the map is older than the files", MAP, hint="`cub map` renews it")
    message = f"the map was drawn for {drawn} tokens, and the configuration says {due}"
    hint = f"`cub config set map.tokens {drawn}` keeps that, `cub map` draws it for {due}"
    return PlanWarning(message, MAP, hint=hint)


def is_current(data: bytes, made: Made) -> bool:
    """Whether a file says what the fresh map says, whatever a formatter or git did to its bytes."""
    found, fresh = known_seal(data, MAP, MAP_FORMAT), unseal(made.data)
    is_same = found is not None and found.intact and found == fresh
    return is_same and _budget(data) == _budget(made.data)


def _budget(data: bytes) -> int | None:
    """What the header tells of it: a small project has the same map for any."""
    found = _BUDGET.search(data[:200])
    return int(found[1]) if found else None


def _cache_of(root: Path) -> Path:
    """The project's own folder for caches, or the user's where cub has no folder here.

    A repository may bring a link: none is followed to where a person's files are.
    """
    folder = root / CACHE
    inside = Path(os.path.realpath(folder.parent)).is_relative_to(root)
    if folder.parent.is_dir() and inside and not folder.is_symlink():
        return folder
    from platformdirs import user_cache_path

    name = sha256(root.as_posix().encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return user_cache_path("cub") / "maps" / name


def _backup(project: Project, data: bytes) -> Plan:
    path = f"{BACKUPS}/.cub-map.md.{sha256(data).hexdigest()[:16]}.md"
    hint = "write what agents should know into AGENTS.md: the map is made from the files"
    warning = PlanWarning(f"it was edited; the old text is kept in {path}", MAP, hint=hint)
    if project.tree.read(path) == data:
        return Plan((), (warning,))
    return Plan((Edit(path, None, data, "keep the edited map", local=True),), (warning,))


def _shop(project: Project, wanted: Wanted) -> Workshop:
    root = project.root / wanted.part
    cache = _cache_of(root)
    keep = wanted.keep if cache.is_absolute() else _not_at_all
    above = f"{wanted.part}/" if wanted.part else ""
    return Workshop(root, cache, _gone(project), wanted.progress, keep, above)


def _not_at_all(_write: Write) -> None:
    """For a user without a home folder: "~" would be a folder right here."""


def _gone(project: Project) -> tuple[str, ...]:
    """Files that the plan so far deletes."""
    tree = project.tree
    if not isinstance(tree, Planned):
        return ()
    return tuple(path for path, data in tree.files.items() if data is None)


def _header_tokens(tokens: int) -> int:
    return estimate_tokens(_sealed("", tokens, tokens).decode())


def _sealed(body: str, tokens: int, estimate: int = 0) -> bytes:
    """The file; its header tells its own length, too."""
    while True:
        says = _SAYS.format(estimate=estimate, tokens=tokens)
        data = seal(body, MAP_FORMAT, "<!-- {} -->", says=says)
        count = max(estimate, estimate_tokens(data.decode()))
        if count == estimate:
            return data
        estimate = count
