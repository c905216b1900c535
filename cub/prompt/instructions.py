"""Section bodies for instruction files: rendered for what a file needs, or recognized again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Literal

from cub.edit.document import normalized
from cub.edit.repair.unmarked import Released, ReleasedBody
from cub.edit.sections import digest
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class Need:
    """What one instruction file's section has to say.

    `shared`: the text for every agent; `claude`: Claude's additions; `imports`: the line that
    loads AGENTS.md; `read_first`: the line that sends the reader to CLAUDE.md; `constitution`,
    `map`, `skills`: what exists and can be referred to; `map_text`, `constitution_text`: what
    stands in the section itself instead; `root`: where a nested file points.
    """

    template: Literal["agents", "claude", "gemini", "rule", "nested"]
    shared: bool = True
    claude: bool = False
    imports: bool = False
    read_first: bool = False
    constitution: bool = False
    map: bool = False
    skills: bool = False
    map_text: str = ""
    constitution_text: str = ""
    root: str = ""


@lru_cache(maxsize=1024)
def render(templates: TemplateSet, version: int, need: Need) -> str:
    """The section body of `version` for `need`."""
    values = asdict(need)
    return templates.render(version, values.pop("template"), **values)


def recognize(templates: TemplateSet, version: int, recorded: str, need: Need) -> str | None:
    """The body that cub once wrote, told by its recorded digest, or None.

    Tries `need` first, then everything else that the templates of `version` can say in a file
    like this one. Digests of the older form are of texts that no template gives.
    """
    if not recorded.startswith("sha256-"):
        return None
    for candidate in _alike(need):
        try:
            body = render(templates, version, candidate)
        except LookupError:
            return None
        if digest(body.encode()) == recorded:
            return body
    return None


def released_bodies(templates: TemplateSet, need: Need) -> Released:
    """What the templates of any version can say in a file like the one with `need`."""
    return Released(_openings(templates), partial(_all_bodies, templates, need))


@lru_cache(maxsize=8)
def _openings(templates: TemplateSet) -> frozenset[bytes]:
    """The first lines of all bodies: no flag changes the one of its template."""
    needs = (Need("nested", root=_ROOTS[0]), *(Need(name) for name in _TEMPLATES))
    return frozenset(lines[0] for _, lines in _in_all_versions(templates, needs))


@lru_cache(maxsize=8)
def _all_bodies(templates: TemplateSet, need: Need) -> tuple[ReleasedBody, ...]:
    return tuple(dict.fromkeys(_in_all_versions(templates, _alike(need))))


def _in_all_versions(templates: TemplateSet, needs: Iterable[Need]) -> Iterator[ReleasedBody]:
    """What `needs` give in each version that has their templates."""
    for version, need in product(range(1, templates.version + 1), needs):
        try:
            body = render(templates, version, need)
        except LookupError:
            continue
        yield ReleasedBody(version, tuple(normalized(body.encode())))


def _alike(need: Need) -> Iterator[Need]:
    yield need
    if need.template == "nested":
        ups = range(1, need.root.count("../") + 1)
        for up, name in product(ups, _ROOTS):
            yield replace(need, root="../" * up + name)
    for texts in dict.fromkeys(((need.map_text, need.constitution_text), ("", ""))):
        inlined = dict(zip(("map_text", "constitution_text"), texts, strict=True))
        for template, *flags in product(_TEMPLATES, *[(True, False)] * len(_FLAGS)):
            said = dict(zip(_FLAGS, flags, strict=True))
            yield replace(need, template=template, root="", **inlined, **said)  # type: ignore[arg-type]


_TEMPLATES: tuple[Literal["agents", "claude", "gemini"], ...] = ("agents", "claude", "gemini")
_FLAGS = ("shared", "claude", "imports", "read_first", "constitution", "map", "skills")
_ROOTS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
