"""Section bodies for instruction files: rendered for what a file needs, or recognized again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from itertools import product
from typing import Literal

from cub.edit.document import normalize_lines
from cub.edit.repair.unmarked_sections import ReleasedBodies, ReleasedBody
from cub.edit.sections import compute_digest
from cub.prompt.templates import TemplateSet


@dataclass(frozen=True, slots=True)
class SectionSpec:
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
def render_section(templates: TemplateSet, version: int, spec: SectionSpec) -> str:
    """The section body of `version` for `spec`."""
    values = asdict(spec)
    return templates.render_section(version, values.pop("template"), **values)


def recognize_section(
    templates: TemplateSet, version: int, recorded: str, spec: SectionSpec
) -> str | None:
    """The body that cub once wrote, told by its recorded digest, or None.

    Tries `spec` first, then everything else that the templates of `version` can say in a file
    like this one. Digests of the older form are of texts that no template gives.
    """
    if not recorded.startswith("sha256-"):
        return None
    for candidate in _alike(spec):
        try:
            body = render_section(templates, version, candidate)
        except LookupError:
            return None
        if compute_digest(body.encode()) == recorded:
            return body
    return None


def list_released_bodies(templates: TemplateSet, spec: SectionSpec) -> ReleasedBodies:
    """What the templates of any version can say in a file like the one with `spec`."""
    return ReleasedBodies(_openings(templates), partial(_all_bodies, templates, spec))


@lru_cache(maxsize=8)
def _openings(templates: TemplateSet) -> frozenset[bytes]:
    """The first lines of all bodies: no flag changes the one of its template."""
    needs = (SectionSpec("nested", root=_ROOTS[0]), *(SectionSpec(name) for name in _TEMPLATES))
    return frozenset(lines[0] for _, lines in _in_all_versions(templates, needs))


@lru_cache(maxsize=8)
def _all_bodies(templates: TemplateSet, spec: SectionSpec) -> tuple[ReleasedBody, ...]:
    return tuple(dict.fromkeys(_in_all_versions(templates, _alike(spec))))


def _in_all_versions(
    templates: TemplateSet, needs: Iterable[SectionSpec]
) -> Iterator[ReleasedBody]:
    """What `needs` give in each version that has their templates."""
    for version, need in product(range(1, templates.version + 1), needs):
        try:
            body = render_section(templates, version, need)
        except LookupError:
            continue
        yield ReleasedBody(version, tuple(normalize_lines(body.encode())))


def _alike(spec: SectionSpec) -> Iterator[SectionSpec]:
    yield spec
    if spec.template == "nested":
        ups = range(1, spec.root.count("../") + 1)
        for up, name in product(ups, _ROOTS):
            yield replace(spec, root="../" * up + name)
    for texts in dict.fromkeys(((spec.map_text, spec.constitution_text), ("", ""))):
        inlined = dict(zip(("map_text", "constitution_text"), texts, strict=True))
        for template, *flags in product(_TEMPLATES, *[(True, False)] * len(_FLAGS)):
            said = dict(zip(_FLAGS, flags, strict=True))
            yield replace(spec, template=template, root="", **inlined, **said)  # type: ignore[arg-type]


_TEMPLATES: tuple[Literal["agents", "claude", "gemini"], ...] = ("agents", "claude", "gemini")
_FLAGS = ("shared", "claude", "imports", "read_first", "constitution", "map", "skills")
_ROOTS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
