"""Count how often each text for agents reaches an agent by itself, and render what it misses.

The texts are those of `cub.actions.project_texts`: the user's own in instruction files and rules,
what these import, cub's managed section, the constitution, and the map. Each should reach a model
once, whichever agent it is; what counts is what the agent sees, and not which file says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cub.actions.managed_files import CONSTITUTION, MAP
from cub.actions.project_texts import (
    SECTION_LABEL,
    ProjectText,
    list_project_texts,
    open_agent_files,
)
from cub.actions.section_specs import ROOT_FILES
from cub.actions.text_matching import (
    Paragraph,
    TextMatcher,
    count_paragraphs,
    count_whole,
    split_paragraphs,
)
from cub.agent_profiles.agent_files import AgentFiles, AgentReading, LoadedFile
from cub.agent_profiles.profiles import NAMED_PROFILES
from cub.project.agent_reading import list_loaded_files
from cub.project.project import Project
from cub.tokens import estimate_tokens

_PREFACE = (
    "These are instructions of this project. Follow them as if you had opened their files,\n"
    "and do not open these files again."
)


@dataclass(frozen=True)
class ContextSource:
    """Describe one text for agents: what it says, and how often an agent loads it by itself.

    `missing` is what the agent has to be given to have the whole text once: all of it, a part, or
    "". `is_cut`: a limit of the agent ends the text; `is_part`: some paragraphs are there. Files
    may say the same in words of their own: `variants` has all of them. `loaded_from` names the
    files that bring it, as people write them.
    """

    label: str
    path: str
    text: str
    times: int
    missing: str
    variants: tuple[str, ...] = ()
    is_cut: bool = False
    is_part: bool = False
    loaded_from: tuple[str, ...] = ()

    @property
    def is_incomplete(self) -> bool:
        """Return whether the agent loads the text, but not all of it."""
        return self.is_cut or bool(self.times and self.missing)

    @cached_property
    def tokens(self) -> int:
        """Return what the whole text costs a model to read."""
        return estimate_tokens(self.text)


@dataclass(frozen=True)
class AgentContext:
    """Hold the texts of a project for an agent, and the arguments that keep one from coming twice.

    With these `arguments`, the agent loads each as often as its source says.
    """

    sources: Sequence[ContextSource]
    arguments: tuple[str, ...] = ()


def prevent_repeats(
    reading: AgentReading, files: AgentFiles, texts: Sequence[ProjectText]
) -> AgentContext:
    """Return the texts with what keeps an agent from loading one of them twice.

    A file of the project is left out if its text comes from elsewhere too; one of the user's, if
    the project says all that it has.
    """
    loads = list_loaded_files(reading, files)
    best = AgentContext(count_sources_in(texts, loads, files))
    left_out: list[str] = []
    # First those that say nothing of their own: what else a file says has to be handed over.
    order = [*reversed(loads)]
    order.sort(key=lambda one: not _is_covered(one, loads))
    for file in order:
        repeated = _sum_repeats(best.sources)
        paths = [*left_out, file.path]
        given = reading.prevent_load(files, paths) if repeated else None
        if given is None:
            continue
        tried = replace(files, arguments=(*files.arguments, *given))
        remaining = list_loaded_files(reading, tried)
        sources = count_sources_in(texts, remaining, tried)
        known = {one.path for one in remaining}
        lost = [one for one in loads if one.path not in known]
        others = [one for one in lost if not files.is_below(one.path, files.root)]
        seen = [*remaining, *(LoadedFile("", data=one.missing.encode()) for one in sources)]
        if _sum_repeats(sources) < repeated and all(_is_covered(one, seen) for one in others):
            best, left_out = AgentContext(sources, given), paths
    return best


def _sum_repeats(sources: Iterable[ContextSource]) -> int:
    return sum(max(0, source.times - 1) for source in sources)


def _is_covered(file: LoadedFile, loads: Iterable[LoadedFile]) -> bool:
    """Return whether other files say everything that a file says."""
    matchers = [TextMatcher(other.text) for other in loads if other is not file]
    return all(count_paragraphs(split_paragraphs(file.text), matchers))


def count_sources_in(
    texts: Iterable[ProjectText], loads: Sequence[LoadedFile], files: AgentFiles
) -> list[ContextSource]:
    """Return the texts with how often each is in what an agent loads, and what is missing.

    A part that is missing in several texts is missing once.
    """
    matchers = {id(load): TextMatcher(load.text) for load in loads}
    handed: list[TextMatcher] = []
    sources = []
    for text in texts:
        source = _count_text(text, loads, matchers, handed)
        sources.append(replace(source, loaded_from=tuple(map(files.shorten, source.loaded_from))))
        if source.missing:
            handed.append(TextMatcher(source.missing))
    return sources


def _count_text(
    text: ProjectText,
    loads: Sequence[LoadedFile],
    matchers: Mapping[int, TextMatcher],
    handed: Sequence[TextMatcher],
) -> ContextSource:
    """Return a text with how often it is loaded; `loaded_from` are absolute paths."""
    variants = text.variants
    split = [split_paragraphs(variant) for variant in dict.fromkeys(variants)]
    counts = [
        max(count_whole(one, count_paragraphs(one, [matchers[id(load)]])) for one in split)
        for load in loads
    ]
    paths = tuple(load.path for load, times in zip(loads, counts, strict=True) if times)
    source = ContextSource(text.label, text.path, variants[0], 0, "", variants, loaded_from=paths)
    cut, rest = _find_cut(text, loads)
    seen = [matchers[id(load)] for load in loads if load is not cut]
    times = sum(times for load, times in zip(loads, counts, strict=True) if load is not cut)
    if cut:
        missing = "" if times else text.strip_imports(rest)
        return replace(source, times=times + 1, missing=missing, is_cut=bool(missing))
    absent = min((_list_absent(one, [*seen, *handed]) for one in split), key=len)
    is_part = len(absent) < len(split[0])
    missing = "\n\n".join(paragraph.text for paragraph in absent) if is_part else variants[0]
    return replace(source, times=times, missing=text.strip_imports(missing), is_part=is_part)


def _list_absent(
    paragraphs: Sequence[Paragraph], matchers: Iterable[TextMatcher]
) -> list[Paragraph]:
    counts = count_paragraphs(paragraphs, matchers)
    return [one for one, times in zip(paragraphs, counts, strict=True) if not times]


def _find_cut(text: ProjectText, loads: Sequence[LoadedFile]) -> tuple[LoadedFile | None, str]:
    """Return the load that has only the beginning of a text, and the rest of the text."""
    for load in loads:
        for part in text.parts:
            if load.is_cut and part.path == load.path:
                rest = part.cut(load.end, len(part.data))
                if rest and part.cut(0, load.end):
                    return load, rest
    return None, ""


def list_loading_agents(project: Project) -> dict[str, tuple[str, ...]]:
    """Return the known agents that load each text by themselves, in their newest versions.

    By path: of the instruction files at the root, of the constitution and of the map; for the last
    two, a section with their text counts. Users' own settings don't count.
    """
    files = open_agent_files(project, {})
    paths = (*ROOT_FILES, CONSTITUTION, MAP)
    identities = {path: {files.identify(f"{files.root}/{path}")} for path in paths}
    for text in list_project_texts(project):
        if text.path in (CONSTITUTION, MAP):
            identities[text.path] |= {files.identify(part.path) for part in text.parts}
    loads = {
        profile.title: {
            files.identify(file.path) for file in list_loaded_files(profile.reading, files)
        }
        for profile in NAMED_PROFILES
        if profile.reading
    }
    return {
        path: tuple(title for title, loaded in loads.items() if loaded & identities[path])
        for path in paths
    }


def render_missing_context(sources: Iterable[ContextSource]) -> str:
    """Return what an agent has to be given so that it has each text once; "" if nothing."""
    blocks = [_render_block(source) for source in sources if source.missing]
    return "\n\n".join((_PREFACE, *blocks)) + "\n" if blocks else ""


def _render_block(source: ContextSource) -> str:
    name = "cub" if source.label == SECTION_LABEL else source.path
    part = ' part="rest"' if source.is_cut or source.is_part else ""
    return f'<instructions file="{name}"{part}>\n{source.missing}\n</instructions>'
