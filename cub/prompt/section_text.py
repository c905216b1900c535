"""Render the section bodies of instruction files, or recognize them again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Literal

from cub.edit.digests import matches_digest
from cub.edit.document import normalize_lines
from cub.edit.repair.similar_text import ReleasedBody
from cub.prompt.templates import TemplateSet

_TEMPLATES: tuple[Literal["agents", "claude", "gemini"], ...] = ("agents", "claude", "gemini")
_FLAGS = ("shared", "claude", "imports", "read_first", "constitution", "map", "skills")
_ROOTS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")


@dataclass(frozen=True, slots=True)
class SectionSpec:
    """Describe what the section of an instruction file has to say.

    `shared`: the text for every agent; `claude`: Claude's additions; `imports`: the line that
    loads AGENTS.md; `read_first`: the line that sends the reader to CLAUDE.md; `constitution`,
    `map`, `skills`: files that exist and can be referred to; `map_text`, `constitution_text`: text
    in the section itself instead; `root`: the file that a nested one points to.
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
    """Return the section body of `version` for `spec`; LookupError if it has no such body."""
    values = asdict(spec)
    return templates.render_section(version, values.pop("template"), **values)


def recognize_section(
    templates: TemplateSet, version: int, recorded: str, spec: SectionSpec
) -> str | None:
    """Return the body that has the recorded digest; None if no template of `version` gives it.

    Tries `spec` first, then all other specs of a file like this one. Digests of the older form are
    of texts that no template gives.
    """
    if not recorded.startswith("sha256-"):
        return None
    for candidate in _iter_alike(spec):
        try:
            body = render_section(templates, version, candidate)
        except LookupError:
            return None
        if matches_digest(recorded, body.encode()):
            return body
    return None


@lru_cache(maxsize=8)
def list_released_bodies(templates: TemplateSet, spec: SectionSpec) -> tuple[ReleasedBody, ...]:
    """Return all bodies, of any version, that a file like the one with `spec` may have."""
    return tuple(dict.fromkeys(_iter_bodies(templates, spec)))


def _iter_bodies(templates: TemplateSet, spec: SectionSpec) -> Iterator[ReleasedBody]:
    for version, alike in product(range(1, templates.version + 1), _iter_alike(spec)):
        try:
            body = render_section(templates, version, alike)
        except LookupError:  # this version has no such template
            continue
        yield ReleasedBody(version, tuple(normalize_lines(body.encode())))


def _iter_alike(spec: SectionSpec) -> Iterator[SectionSpec]:
    """List `spec` first, then all others that a file like this one may have had."""
    yield spec
    if spec.template == "nested":
        for levels, name in product(range(1, spec.root.count("../") + 1), _ROOTS):
            yield replace(spec, root="../" * levels + name)
    for texts in dict.fromkeys(((spec.map_text, spec.constitution_text), ("", ""))):
        inlined = dict(zip(("map_text", "constitution_text"), texts, strict=True))
        for template, *flags in product(_TEMPLATES, *[(True, False)] * len(_FLAGS)):
            values = dict(zip(_FLAGS, flags, strict=True))
            yield replace(spec, template=template, root="", **inlined, **values)  # type: ignore[arg-type]
