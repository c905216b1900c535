"""The whole map for programs, and the reasons for one symbol's rank for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from cub.errors import CubError

if TYPE_CHECKING:
    from cub.actions.project_map import Wanted
    from cub.project.project import Project
    from cub.repomap.ranking.ranking import Symbol
    from cub.repomap.survey import RepoMap

_MOST_USERS = 15
Tree = dict[str, Any]


def map_tree(found: RepoMap, project: Project, asked: Wanted) -> Tree:
    """Everything that the map chooses from, symbols by rank."""
    from cub.actions.health import health

    known, stack = found.structure, found.structure.stack
    return {
        "v": 1,
        "root": (project.root / asked.part).as_posix(),
        "summary": known.summary,
        "languages": [{"name": name, "share": share} for name, share in known.languages],
        "technologies": [row._asdict() for row in stack.technologies],
        "commands": [row._asdict() for row in stack.commands],
        "entry_points": [row._asdict() for row in stack.entry_points],
        "packages": [row._asdict() for row in stack.packages],
        "key_files": [row._asdict() for row in known.key_files],
        "conventions": list(known.conventions),
        "symbols": _symbols(found),
        "health": asdict(health(project.tree)),
        "notes": [note._asdict() for note in found.notes],
    }


def _symbols(found: RepoMap) -> list[Tree]:
    users = Counter(chain.from_iterable(found.graph.uses))
    return [_symbol(row, rank, users[row.entry]) for rank, row in enumerate(found.symbols, 1)]


def _symbol(row: Symbol, rank: int, users: int) -> Tree:
    return {
        "rank": rank,
        **row.definition._asdict(),
        "path": row.path,
        "score": round(row.score, 6),
        "users": users,
    }


def explanation(found: RepoMap, name: str) -> Iterator[str]:
    """Each definition of `name`: its rank, what its score is made of, and who refers to it."""
    rows = [(rank, s) for rank, s in enumerate(found.symbols, 1) if s.definition.name == name]
    if not rows:
        raise _unknown(found, name)
    sources = found.graph.sources
    for rank, symbol in rows:
        definition = symbol.definition
        yield definition.signature
        yield f"  {symbol.path}:{definition.line}, rank {rank} of {len(found.symbols)}"
        made = symbol.factors._asdict().items()
        factors = " x ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in made)
        yield f"  score {symbol.score:.4g} = {factors}"
        uses = found.graph.references(symbol.entry)
        uses = sorted(uses, key=lambda use: (-use.weight, sources[use.user].path))
        for use in uses[:_MOST_USERS]:
            yield f"  {use.weight:.2f}  {sources[use.user].path} ({use.reason})"
        if len(uses) > _MOST_USERS:
            rest = uses[_MOST_USERS:]
            yield f"  {sum(use.weight for use in rest):.2f}  from {len(rest)} more files"


def _unknown(found: RepoMap, name: str) -> CubError:
    from difflib import get_close_matches

    names = sorted({symbol.definition.name for symbol in found.symbols})
    near = get_close_matches(name, names, 3)
    hint = f"did you mean {', '.join(near)}?" if near else ""
    hint = hint or "only what a source file gives to other files is ranked"
    return CubError(f"no definition is called {name}", hint=hint)
