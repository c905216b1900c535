"""What each agent reads of a project, and that a run hands over exactly the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, product
from pathlib import Path

import pytest

from cub.actions.agent_context import ContextSource, render_missing_context
from cub.actions.init_update import InitOptions, plan_init
from cub.actions.project_texts import SECTION_LABEL, list_readable_texts
from cub.edit.file_imports import find_imports
from cub.files.file_tree import FileTree, PlannedTree
from cub.project.project import Project
from cub.prompt.section_text import SectionSpec, render_section
from cub.prompt.templates import TemplateSet, load_shipped_templates
from tests.actions.helpers import list_context_sources
from tests.project.memory_tree import MemoryTree

AGENTS, CLAUDE, MAP, CONSTITUTION = "AGENTS.md", "CLAUDE.md", ".cub/map.md", ".cub/constitution.md"
OLD_CLAUDE = (2, 1, 197)
OPENCODE = "opencode.json"
# One line of each text that stands in no other.
MARKS = {
    "AGENTS.md (yours)": "Ours, from AGENTS.",
    "CLAUDE.md (yours)": "Theirs, from CLAUDE.",
    SECTION_LABEL: "Work in tasks:",
    CONSTITUTION: "- Verify before you ship.",
    MAP: "entry point: bakery.py",
}
OURS, THEIRS = "# Ours\n\nOurs, from AGENTS.\n", "# Theirs\n\nTheirs, from CLAUDE.\n"
INLINE = {".cub/config.yaml": "inline: [map, constitution]\n"}
SHAPES: dict[str, dict[str, str]] = {
    "only AGENTS.md": {AGENTS: OURS},
    "only CLAUDE.md": {CLAUDE: THEIRS},
    "both": {AGENTS: OURS, CLAUDE: THEIRS},
    "none": {},
    "import": {AGENTS: OURS, CLAUDE: f"{THEIRS}\nSee @AGENTS.md and @./AGENTS.md for more.\n"},
    "stub": {AGENTS: OURS, CLAUDE: "@AGENTS.md\n"},
    "reversed stub": {AGENTS: "@CLAUDE.md\n", CLAUDE: THEIRS},
    "link": {AGENTS: OURS, CLAUDE: "->AGENTS.md"},
    "flattened link": {AGENTS: OURS, CLAUDE: "AGENTS.md"},
    "GEMINI.md": {AGENTS: OURS, "GEMINI.md": "@AGENTS.md\n"},
    "windows": {AGENTS: OURS.replace("\n", "\r\n"), CLAUDE: THEIRS.replace("\n", "\r\n")},
}  # fmt: skip


def made(files: Mapping[str, str], inline: bool = False, agents: tuple[str, ...] = ()) -> Project:
    """A project after `cub init` that has these files and a map."""
    files = {**files, MAP: f"# Project map\n\n{MARKS[MAP]}\n", **(INLINE if inline else {})}
    tree = MemoryTree(
        {path: text.encode() for path, text in files.items() if text[:2] != "->"},
        {path: text[2:] for path, text in files.items() if text[:2] == "->"},
    )
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    planned = PlannedTree(tree, plan_init(project, InitOptions(agents=agents)).contents)
    return Project.from_tree(Path("/nowhere"), planned, is_commit=True)


FIVE = ("claude", "codex", "gemini", "opencode", "aider")
# Texts that users have in a file of their own, and who misses each after `cub init --agent all`.
MISSED: dict[str, dict[str, tuple[str, ...]]] = {
    "only CLAUDE.md": {"CLAUDE.md (yours)": FIVE[1:4]},
    "both": {"CLAUDE.md (yours)": FIVE[1:], "AGENTS.md (yours)": FIVE[:1]},
    "import": {"CLAUDE.md (yours)": FIVE[1:]},
}


def test_most_of_a_text_is_not_all_of_it() -> None:
    rules = "".join(f"Rule {number} of this project.\n\n" for number in range(9))
    project = made({AGENTS: rules, CLAUDE: f"{rules}One more.\n"})
    sources = {one.path: one for one in list_context_sources(project, "codex")}
    assert (sources[CLAUDE].times, sources[CLAUDE].missing) == (1, "One more.")
    assert {path: one.is_incomplete for path, one in sources.items() if one.times} == {
        AGENTS: False, CLAUDE: True,
    }  # fmt: skip


@pytest.mark.parametrize(
    "shape", ["only AGENTS.md", "only CLAUDE.md", "both", "none", "import", "stub", "link"]
)
def test_after_one_init_each_agent_has_every_text_once(shape: str) -> None:
    project = made(SHAPES[shape], agents=FIVE)
    for agent in FIVE:
        found = times(list_context_sources(project, agent))
        missed = {label for label, agents in MISSED.get(shape, {}).items() if agent in agents}
        assert found.keys() >= {SECTION_LABEL, CONSTITUTION, MAP} | missed
        assert found == {label: int(label not in missed) for label in found}, agent
    assert plan_init(project, InitOptions(agents=FIVE)).is_empty


@pytest.mark.parametrize("shape", ["both", "only CLAUDE.md"])
def test_one_file_for_all_agents_leaves_nothing_to_miss(shape: str) -> None:
    tree = made(SHAPES[shape], agents=FIVE).tree
    theirs = (tree.read(CLAUDE) or b"").replace(THEIRS.encode(), b"@AGENTS.md\n")
    ours = (tree.read(AGENTS) or b"") + THEIRS.encode()
    moved: dict[str, bytes | None] = {AGENTS: ours, CLAUDE: theirs}
    if shape == "only CLAUDE.md":
        moved = {AGENTS: tree.read(CLAUDE), CLAUDE: None}
    project = Project.from_tree(Path("/nowhere"), PlannedTree(tree, moved), is_commit=True)
    planned = plan_init(project, InitOptions(agents=FIVE)).contents
    after = replace(project, tree=PlannedTree(project.tree, planned))
    for agent in FIVE:
        assert set(times(list_context_sources(after, agent)).values()) == {1}, agent


def times(sources: list[ContextSource]) -> dict[str, int]:
    return {source.label: source.times for source in sources}


class Model:
    """What reaches a model: each agent's reading once more, in the plainest words."""

    def __init__(self, tree: FileTree) -> None:
        self.tree = tree

    def text(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        listed = name in self.tree.list_names(folder)
        return ((self.tree.read(path) if listed else None) or b"").decode()

    def once(self, *paths: str) -> Iterator[str]:
        """Claude Code: files with their imports, each file once."""
        done: set[object] = set()
        todo = list(paths)
        while todo:
            path = todo.pop()
            identity = self.tree.get_identity(path)
            key = path if identity is None else identity
            if key not in done and self.text(path):
                done.add(key)
                yield self.text(path)
                todo += self.imports(path)

    def each_time(self, path: str, above: tuple[str, ...] = ()) -> Iterator[str]:
        """Gemini CLI: a file with its imports, as often as they are imported."""
        if path not in above:
            yield self.text(path)
            for name in self.imports(path):
                yield from self.each_time(name, (*above, path))

    def imports(self, path: str) -> frozenset[str]:
        return find_imports(self.text(path).replace("\r\n", "\n"))

    def agents(self) -> dict[str, Iterator[str]]:
        """What each agent loads by itself."""
        by_setting = [AGENTS] if AGENTS in self.text(".gemini/settings.json") else []
        return {
            "claude": self.once(CLAUDE if self.text(CLAUDE).strip() else AGENTS),
            "old claude": self.once(CLAUDE),
            "codex": iter([self.text(AGENTS)]),
            "gemini": chain(*map(self.each_time, ["GEMINI.md", *by_setting])),
            "opencode": iter([self.text(AGENTS) or self.text(CLAUDE), *self.listed(OPENCODE)]),
            "aider": self.listed(".aider.conf.yml"),
            "agents_md": iter([self.text(AGENTS)]),
            "nothing": iter([]),
        }

    def listed(self, setting: str) -> Iterator[str]:
        text = self.text(setting)
        yield from (self.text(path) for path in (AGENTS, CLAUDE, CONSTITUTION, MAP) if path in text)

    def prompt(self, text: str) -> Iterator[str]:
        """A prompt, in which Claude and Gemini CLI replace imports wherever they stand."""
        yield text
        yield from (self.text(path) for path in re.findall(r"@(?:\./)?([\w./]+)", text))


def count(texts: Iterator[str], marks: Mapping[str, str]) -> dict[str, int]:
    whole = "\n".join(texts)
    return {label: whole.count(mark) for label, mark in marks.items()}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("agents", [(), FIVE[2:], FIVE])
@pytest.mark.parametrize("inline", [False, True])
def test_what_is_handed_over_makes_it_once_for_every_agent(
    shape: str, agents: tuple[str, ...], inline: bool
) -> None:
    project = made(SHAPES[shape], inline, agents)
    model = Model(project.tree)
    written = "".join(SHAPES[shape].values())
    present = {label for label, mark in MARKS.items() if mark in written}
    marks = {k: v for k, v in MARKS.items() if k in present | {SECTION_LABEL, CONSTITUTION, MAP}}
    for agent, loaded in model.agents().items():
        version = OLD_CLAUDE if agent == "old claude" else ()
        sources = list_context_sources(project, agent.removeprefix("old "), version=version)
        native = count(loaded, marks)
        assert times(sources) == native, agent
        handed = count(model.prompt(render_missing_context(sources)), marks)
        whole = {label: native[label] + handed[label] for label in marks}
        # Its user has Gemini CLI load two files that both have a section.
        is_knot = (shape, agent) == ("reversed stub", "gemini")
        assert whole == {label: max(1, native[label] if is_knot else 1) for label in marks}, agent


def test_nothing_is_handed_over_where_nothing_is_missing() -> None:
    sources = list_context_sources(made(SHAPES["only AGENTS.md"]), "claude")
    assert {source.missing for source in sources} == {""}
    assert render_missing_context(sources) == ""


def test_a_project_without_cub_hands_over_what_its_user_wrote() -> None:
    tree = MemoryTree({AGENTS: OURS.encode(), CLAUDE: THEIRS.encode(), "a.py": b""})
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    sources = list_context_sources(project, "claude")
    assert times(sources) == {"AGENTS.md (yours)": 0, "CLAUDE.md (yours)": 1}
    assert render_missing_context(sources).endswith(
        '\n\n<instructions file="AGENTS.md">\n# Ours\n\nOurs, from AGENTS.\n</instructions>\n'
    )
    assert list_context_sources(replace(project, tree=MemoryTree({})), "codex") == []


def test_a_section_is_handed_over_without_its_references() -> None:
    text = render_missing_context(list_context_sources(made({}), "nothing"))
    section = text.partition('file="cub">\n')[2].partition("</instructions>")[0]
    assert section.startswith("## Cub Integration\n\nFollow the text outside this section")
    assert ".cub/constitution.md" not in section
    assert "Open these files" not in section
    assert "@" not in section


def test_tokens_are_those_of_the_whole_text() -> None:
    sources = {s.label: s for s in list_context_sources(made(SHAPES["both"]), "claude")}
    assert sources["CLAUDE.md (yours)"].tokens == 8
    assert sources[MAP].tokens > 4


LONG = "".join(f"Rule {number:04}.\n" for number in range(3_000))


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("at_top", [False, True])
def test_codex_is_given_the_rest_of_a_file_that_is_too_long(at_top: bool, inline: bool) -> None:
    files = {AGENTS: LONG}
    if at_top:
        files[".cub/config.yaml"] = "placement: top\n"
    project = made(files, inline and not at_top)
    sources = list_context_sources(project, "codex")
    own = next(source for source in sources if source.label == "AGENTS.md (yours)")
    assert own.is_cut
    assert own.times == 1
    section = next(source for source in sources if source.label == SECTION_LABEL)
    assert (section.times, section.is_cut) == (int(at_top), False)
    seen = (project.tree.read(AGENTS) or b"")[: 32 * 1024].decode()
    whole = seen[: seen.rindex("\n") + 1] + render_missing_context(sources)
    assert [whole.count(f"Rule {number:04}.\n") for number in range(3_000)] == [1] * 3_000
    assert count(iter([whole]), {k: MARKS[k] for k in (SECTION_LABEL, MAP)}) == {
        SECTION_LABEL: 1,
        MAP: 1,
    }
    assert '<instructions file="AGENTS.md" part="rest">\nRule ' in whole


def test_a_section_that_is_cut_is_completed() -> None:
    text = "x" * 63 + "\n"
    for lines in (500, 506, 508, 511):
        project = made({AGENTS: text * lines})
        sources = list_context_sources(project, "codex")
        section = next(source for source in sources if source.label == SECTION_LABEL)
        data = (project.tree.read(AGENTS) or b"")[: 32 * 1024]
        whole = data[: data.rindex(b"\n") + 1].decode() + render_missing_context(sources)
        for line in section.text.splitlines():
            if line and "@" not in line and not line.startswith("Open these"):
                assert whole.count(f"\n{line}\n") == 1, line


def test_texts_that_are_inlined_and_stale_count_by_their_headings() -> None:
    project = made({AGENTS: OURS}, inline=True)
    later = PlannedTree(project.tree, {MAP: b"# Project map\n\nentry point: oven.py\n"})
    sources = list_context_sources(replace(project, tree=later), "codex")
    assert times(sources)[MAP] == 1
    other = PlannedTree(project.tree, {MAP: b"# Another title\n"})
    assert times(list_context_sources(replace(project, tree=other), "codex"))[MAP] == 0


def test_a_file_that_cub_can_not_edit_is_the_users_as_a_whole() -> None:
    begin = b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n"
    tree = MemoryTree({AGENTS: OURS.encode() + begin, CLAUDE: b"\xff\xfea\0"})
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    first = list_context_sources(project, "nothing")[0]
    assert (first.label, first.text.splitlines()[-1]) == ("AGENTS.md (yours)", begin.decode()[:-1])


def test_settings_of_the_user_count(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini/settings.json").write_text('{"context": {"fileName": "AGENTS.md"}}')
    project = made({AGENTS: OURS})
    sources = list_context_sources(project, "gemini", environ={"HOME": tmp_path.as_posix()})
    assert set(times(sources).values()) == {1}
    assert set(times(list_context_sources(project, "gemini")).values()) == {0}


def test_every_shared_text_and_no_other_one_is_told_by_its_words(
    next_version: TemplateSet,
) -> None:
    from cub.project.instruction_files import SHARED_WORDS

    for templates in (load_shipped_templates(), next_version):
        for name, shared, claude in product(("agents", "claude", "gemini", "rule"), *[(0, 1)] * 2):
            spec = SectionSpec(name, shared=bool(shared), claude=bool(claude))  # type: ignore[arg-type]
            has_text = bool(shared) or name in ("agents", "rule")
            assert (
                SHARED_WORDS in render_section(templates, templates.version, spec).encode()
            ) == has_text


def test_what_agents_may_read_beside_is_promised_by_no_run() -> None:
    """Files in directories, what they import, what a link's own directory has, and their equals."""
    files = {
        "AGENTS.md": OURS,
        "CLAUDE.md": "-> docs/R.md",
        "docs/R.md": "Rules.\n\n@x.md\n",
        "docs/x.md": "From docs.\n",
        "x.md": "From the root.\n",
        "src/AGENTS.md": "Sources, @gone.md and @../docs/y.md\n",
        "docs/y.md": "From the sources.\n",
        "lib/AGENTS.md": OURS,
        "lib/CLAUDE.md": "@AGENTS.md\n",
    }
    tree = MemoryTree(
        {path: text.encode() for path, text in files.items() if text[:2] != "->"},
        {path: text[3:] for path, text in files.items() if text[:2] == "->"},
    )
    project = Project.from_tree(Path("/nowhere"), tree, is_commit=True)
    chosen = [f"/nowhere/{path}" for path in files if path.endswith(("AGENTS.md", "CLAUDE.md"))]
    paths = [f"/nowhere/{path}" for path in files]
    found = [(one.path, one.is_promised) for one in list_readable_texts(project, paths, chosen)]
    assert found == [
        ("AGENTS.md", True),
        ("CLAUDE.md", True),
        ("docs/x.md", True),
        ("src/AGENTS.md", False),
        ("x.md", False),
        ("docs/y.md", False),
    ]
