"""The settings with which more clients read what the others read; made only where asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from cub.actions.own_files import CONSTITUTION, MAP
from cub.actions.root_needs import AGENTS, CLAUDE
from cub.actions.view import View
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.errors import CubError, raise_all
from cub.files import Tree
from cub.layout.lists import edited, texts_at
from cub.project.client_settings import CLIENTS, Client, Reading, client_named
from cub.project.survey import InstructionFile
from cub.project.targets import GEMINI, normal


def plan_parity(seen: View, clients: Sequence[str]) -> Plan:
    """An edit for the settings file of each client that lacks something; or every fault of all."""
    edits, faults = [], []
    for name in dict.fromkeys(clients):
        try:
            edits += _edit(seen, client_named(name))
        except CubError as error:
            faults.append(error)
    raise_all(faults)
    return Plan(tuple(edits))


def still_named(tree: Tree, gone: Collection[str]) -> Iterator[PlanWarning]:
    """Settings that name files which are `gone`; the settings are the user's, and stay."""
    for client in CLIENTS:
        place = client.place(tree)
        try:
            data = tree.read(place.path)
            named = texts_at(data, place) or () if data else ()
        except CubError:
            continue
        for name in named:
            if normal(name) in gone:
                hint = f"take it out of `{place.name}`, or write a new {name}"
                yield PlanWarning(
                    f"this still names {name}, which will be gone", place.path, hint=hint
                )


def _edit(seen: View, client: Client) -> list[Edit]:
    place = client.place(seen.tree)
    before = seen.tree.read(place.path)
    data = client.fresh if before is None else before
    wanted = client.wanted(_reading(seen))
    after = edited(data, place, wanted, default=client.default)
    if after == data:
        return []
    there = {normal(text) for text in texts_at(data, place) or ()}
    new = ", ".join(path for path in wanted if path not in there)
    return [Edit(seen.tree.real(place.path), before, after, f"let {client.title} read {new}")]


def _reading(seen: View) -> Reading:
    there = [path for path in (AGENTS, CLAUDE) if path in seen.needs]
    there = there or [path for path in (AGENTS, CLAUDE) if seen.files[path].exists]
    entry, known = tuple(_opened(seen, path) for path in there[:1]), seen.known
    apart = {  # in a file of its own, and not in the section itself
        CONSTITUTION: known.constitution and not known.constitution_text,
        MAP: known.map and not known.map_text,
    }
    references = tuple(path for path in apart if apart[path])
    brought = any(_brings(seen.files[GEMINI.path], seen.files[path]) for path in there[:1])
    return Reading(() if brought else entry, _whole(seen) or entry, references)


def _opened(seen: View, path: str) -> str:
    """The name to open for the text of `path`: of a link that git flattened, the other's."""
    return seen.files[path].real if seen.tree.real(path) == path else path


def _brings(gemini: InstructionFile, entry: InstructionFile) -> bool:
    """Whether GEMINI.md imports the other file, or is that file."""
    same = gemini.exists and gemini.identity == entry.identity
    return same or entry.path in gemini.imported


def _whole(seen: View) -> tuple[str, ...]:
    """Where AGENTS.md sends its readers to CLAUDE.md: that file, and AGENTS.md for what a person
    wrote in it.
    """
    need = seen.needs.get(AGENTS)
    if need is None or not need.read_first:
        return ()
    return (AGENTS, CLAUDE) if seen.files[AGENTS].own else (CLAUDE,)
