"""Write, show, check or explain the project map: `cub map`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cub.actions.command_options import option
from cub.cli import output
from cub.cli.options import get_directory, get_global_options
from cub.cli.parameters import require_at_most_one, take_options
from cub.cli.plan_command import (
    PlanDisplay,
    ProgressBar,
    defer_cache_writes,
    run_plan_command,
)
from cub.edit.plan import Plan
from cub.errors import CubError, UsageError
from cub.files.internal_files import ScheduleWrite
from cub.project.project import Project, find_project_root
from cub.text import list_similar

if TYPE_CHECKING:
    from cub.actions.project_map import MapFile, MapOptions
    from cub.repomap.map_types import MapOmission
    from cub.repomap.repo_map import RepoMap


app = typer.Typer(add_completion=False)

Where = Annotated[
    Path | None,
    typer.Argument(
        metavar="PATH",
        help="The project, or a directory in it. For a directory, print only its map.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCommandOptions:
    """Hold the options of `cub map`."""

    tokens: int | None = option(
        "--tokens N",
        "Limit the map to N tokens, for this run only. [default: map.tokens, 1500]",
        None,
    )
    stdout: bool = option("--stdout", "Print the map, without writing anything.", False)
    check: bool = option(
        "--check", "Exit 1 if the map is missing or stale, without writing anything.", False
    )
    json: bool = option(
        "--json", "Print all facts about the project as JSON, without writing anything.", False
    )
    exclude: tuple[str, ...] = option(
        "--exclude GLOB", "Exclude these paths, in .gitignore syntax (repeatable).", ()
    )
    no_symbols: bool = option(
        "--no-symbols", "List only directories and commands, without parsing code.", False
    )
    explain: str | None = option("--explain NAME", "Explain the rank of a symbol.", None)

    @property
    def modes(self) -> dict[str, bool]:
        """Return the options that ask for different results, and whether they are given."""
        modes = {"--stdout": self.stdout, "--check": self.check, "--json": self.json}
        return {**modes, "--explain": self.explain is not None}


@app.command(name="map")
@take_options
def draw(context: typer.Context, options: MapCommandOptions, path: Where = None) -> None:
    """Generate the project map.

    The map says what the project is, how to build it, and where things are. cub reads files for
    it, and runs no command of the project.

    Example: cub map --stdout
    """
    from cub.actions.project_map import MapOptions

    verbose, start = get_global_options(context).verbose, get_directory(context) / (path or "")
    folder = Path(os.path.realpath(start))
    root = find_project_root(start)
    part = folder.relative_to(root).as_posix() if path and folder != root else ""
    require_at_most_one(options.modes)
    if options.check and part:
        raise UsageError("there is no map of a part to check", hint="leave PATH out")
    with ProgressBar() as bar:
        request = MapOptions(options.tokens, options.exclude, not options.no_symbols, part, bar)
        if options.json or options.explain is not None:
            _print_facts(root, request, options.explain, verbose=verbose)
        elif options.stdout or part:
            _print_map(root, request, verbose=verbose)
        else:
            _write_map(root, request, check=options.check, verbose=verbose)


def _write_map(root: Path, request: MapOptions, *, check: bool, verbose: bool) -> None:
    """Put the map in its place, or only tell whether it would change."""
    from cub.actions.project_map import plan_map, render_map_file, warn_unsaved_options

    maps: list[MapFile] = []

    def make_plan(project: Project, schedule_write: ScheduleWrite) -> Plan:
        maps.append(render_map_file(project, request._replace(schedule_write=schedule_write)))
        return plan_map(project, maps[-1], warn_unsaved_options(project, request))

    show = PlanDisplay(check=check)
    with defer_cache_writes(show) as schedule_write:
        plan = run_plan_command(root, lambda p: make_plan(p, schedule_write), show)
    _print_empty_note(maps[-1], verbose=verbose)
    if plan.is_empty and maps[-1].data:
        output.print_message("Already up to date.")
    elif check and not plan.is_empty:
        output.print_message("The map would change. Run `cub map`.")
        raise typer.Exit(1)


def _print_map(root: Path, request: MapOptions, *, verbose: bool) -> None:
    from cub.actions.project_map import render_map_file

    map_file = render_map_file(Project.load(root), request)
    output.print_bytes(map_file.data)
    _print_empty_note(map_file, verbose=verbose)


def _print_facts(root: Path, request: MapOptions, name: str | None, *, verbose: bool) -> None:
    from cub.actions.project_map import collect_map

    project = Project.load(root)
    repo_map = collect_map(project, request)
    if name is None:
        output.print_json(map_to_json(repo_map, project, request))
    else:
        output.print_lines(explain_symbol(repo_map, name))
    _print_omissions(repo_map.omissions, verbose=verbose)


def _print_empty_note(map_file: MapFile, *, verbose: bool) -> None:
    if not map_file.data:
        output.print_message("Nothing to map here.")
    _print_omissions(map_file.omissions, verbose=verbose)


def _print_omissions(notes: Sequence[MapOmission], *, verbose: bool) -> None:
    """Print notes on the whole map, and what could not be read: each file, or their number."""
    unread = [note for note in notes if note.path]
    for note in notes:
        if verbose or not note.path:
            output.print_message(f"{note.path}: {note.message}" if note.path else note.message)
    if unread and not verbose:
        count = f"{len(unread)} file" + ("s" if len(unread) > 1 else "")
        output.print_message(f"{count} could not be read or parsed; -v names them.")


_MAX_USERS = 15
Tree = dict[str, Any]


def map_to_json(repo_map: RepoMap, project: Project, request: MapOptions) -> Tree:
    """Return everything that the map selects from, symbols by rank."""
    from cub.actions.ledger_report import count_project_health

    structure, stack = repo_map.structure, repo_map.structure.stack
    return {
        "v": 1,
        "root": (project.root / request.folder).as_posix(),
        "summary": structure.summary,
        "languages": [{"name": name, "share": share} for name, share in structure.languages],
        "technologies": [row._asdict() for row in stack.technologies],
        # What a command `runs` may be as long as a recipe.
        "commands": [
            {key: value for key, value in row._asdict().items() if key != "runs"}
            for row in stack.commands
        ],
        "entry_points": [row._asdict() for row in stack.entry_points],
        "packages": [row._asdict() for row in stack.packages],
        "key_files": [row._asdict() for row in structure.key_files],
        "conventions": list(structure.conventions),
        "symbols": _list_symbols(repo_map),
        "health": count_project_health(project.tree),
        "notes": [note._asdict() for note in repo_map.omissions],
    }


def _list_symbols(repo_map: RepoMap) -> list[Tree]:
    users = Counter(chain.from_iterable(repo_map.graph.uses))
    return [
        {
            "rank": rank,
            **row.definition._asdict(),
            "path": row.path,
            "score": round(row.score, 6),
            "users": users[row.definition_index],
        }
        for rank, row in enumerate(repo_map.symbols, 1)
    ]


def explain_symbol(repo_map: RepoMap, name: str) -> Iterator[str]:
    """Yield each definition of `name`: its rank, the parts of its score, and who refers to it."""
    rows = [(rank, s) for rank, s in enumerate(repo_map.symbols, 1) if s.definition.name == name]
    if not rows:
        raise _make_unknown_error(repo_map, name)
    sources = repo_map.graph.files
    for rank, symbol in rows:
        definition = symbol.definition
        yield definition.signature
        yield f"  {symbol.path}:{definition.line}, rank {rank} of {len(repo_map.symbols)}"
        named = symbol.factors._asdict().items()
        factors = " x ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in named)
        yield f"  score {symbol.score:.4g} = {factors}"
        uses = repo_map.graph.list_references(symbol.definition_index)
        uses = sorted(uses, key=lambda use: (-use.weight, sources[use.user].path))
        for use in uses[:_MAX_USERS]:
            yield f"  {use.weight:.2f}  {sources[use.user].path} ({use.reason})"
        if len(uses) > _MAX_USERS:
            rest = uses[_MAX_USERS:]
            yield f"  {sum(use.weight for use in rest):.2f}  from {len(rest)} more files"


def _make_unknown_error(repo_map: RepoMap, name: str) -> CubError:
    names = sorted({symbol.definition.name for symbol in repo_map.symbols})
    near = list_similar(name, names, 3)
    hint = f"did you mean {', '.join(near)}?" if near else ""
    hint = hint or "only definitions that other files can use are ranked"
    return CubError(f"unknown definition {name}", hint=hint)
