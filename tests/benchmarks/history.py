"""A history like that of a project with cub in it: thousands of files, merges, and now and then a
change to what cub manages.
"""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.files.file_tree import DiskTree, PlannedTree
from cub.project.project import Project
from cub.prompt.templates import TemplateSet, load_shipped_templates
from tests.conftest import git

FILES, COMMITS = 3_000, 1_000
PROSE = "## Rule {}\n\nRun `make {}` before you commit: *about* a minute.\n\n- One.\n- Two.\n\n"
_EVERY = {"own": 8, "map": 20, "nested": 30, "checks": 40, "constitution": 70, "merge": 25}
_STEP = 500  # the commit that takes the project to the next version of the templates


@dataclass
class Story:
    """What a history is told from: the files as they stand, and those that changed last."""

    empty: Path
    templates: TemplateSet
    files: dict[str, bytes] = field(default_factory=dict)
    changed: dict[str, bytes] = field(default_factory=dict)

    def write(self, path: str, data: bytes) -> None:
        """Change one file."""
        self.files[path] = self.changed[path] = data

    def refresh(self, *, first: bool = False) -> None:
        """What `cub init` or `cub update` makes of the files."""
        tree = PlannedTree(DiskTree(self.empty), self.files)
        project = Project.from_tree(self.empty, tree, is_commit=True)
        if first:
            plan = plan_init(project, InitOptions(templates=self.templates))
        else:
            plan = plan_update(project, templates=self.templates)
        for edit in plan.shared_edits:
            assert edit.after is not None
            self.write(edit.path, edit.after)


def next_version(folder: Path) -> TemplateSet:
    """The shipped templates with one more version, whose words differ."""
    shutil.copytree(load_shipped_templates().folder, folder)
    newest = load_shipped_templates().version
    sections = folder / "sections"
    shutil.copytree(sections / f"v{newest}", sections / f"v{newest + 1}")
    for file in (sections / f"v{newest + 1}").glob("*.j2"):
        text = file.read_text().replace(f"sections/v{newest}/", f"sections/v{newest + 1}/")
        file.write_text(text.replace("Work in tasks:", "Work in small tasks:"))
    return TemplateSet(folder)


def build(root: Path, templates: TemplateSet) -> list[tuple[str, str]]:
    """Make the repository; returns each commit but the first with its first parent."""
    root.mkdir()
    git(root, "init", "-q")
    empty = root / "empty"
    empty.mkdir()
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=root,
        input=b"".join(_stream(Story(empty, load_shipped_templates()), templates)),
        check=True,
    )
    lines = git(root, "log", "--format=%H %P", "main").splitlines()
    return [(parents[0], oid) for oid, *parents in map(str.split, lines) if parents]


def _stream(story: Story, templates: TemplateSet) -> Iterator[bytes]:
    """The language of git fast-import."""
    chance = random.Random(1)
    for number in range(FILES):
        story.write(f"src/{number % 40}/{number % 7}/file{number}.py", b"x = %d\n" % number)
    story.write("AGENTS.md", "".join(PROSE.format(n, n) for n in range(30)).encode())
    story.write("CLAUDE.md", b"# Claude\n\n" + PROSE.format(0, 0).encode())
    for number in range(4):
        story.write(f"src/{number}/AGENTS.md", b"# Part\n")
    story.refresh(first=True)
    yield from _commit(story, 1)
    for number in range(2, COMMITS + 2):
        for _ in range(chance.randint(1, 5)):
            path = chance.choice(list(story.files)[:FILES])
            story.write(path, b"x = %d\n" % number)
        if number == _STEP:
            story.templates = templates
            story.refresh()
        _manage(story, number)
        if number % _EVERY["merge"]:
            yield from _commit(story, number)
        else:
            yield from _merge(story, number)


def _manage(story: Story, number: int) -> None:
    """Now and then, a change to what cub manages or to the text around it."""
    if number % _EVERY["own"] == 0:
        text = story.files["AGENTS.md"]
        story.write("AGENTS.md", PROSE.format(number, number).encode() + text)
    if number % _EVERY["nested"] == 0:
        path = f"src/{number % 4}/AGENTS.md"
        story.write(path, story.files[path] + b"- More.\n")
    if number % _EVERY["map"] == 0:
        story.write(".cub/map.md", b"# Map\n\n- file%d.py\n" % number)
        inline = b"[map]" if number % (3 * _EVERY["map"]) else b"[]"
        checks = b"make test%d" % (number // _EVERY["checks"])
        story.write(
            ".cub/config.yaml",
            b"targets: [AGENTS.md, CLAUDE.md, src/1/AGENTS.md, src/2/AGENTS.md]\n"
            b"inline: %s\nrun: {checks: [%s]}\n" % (inline, checks),
        )
        story.refresh()
    if number % _EVERY["constitution"] == 0:
        story.write(".cub/constitution.md", b"# Principles\n\n- Number %d.\n" % number)
        story.refresh()


def _commit(story: Story, number: int, branch: str = "main", *, start: str = "") -> Iterator[bytes]:
    yield b"commit refs/heads/%s\ncommitter t <t@t> %d +0000\ndata 0\n" % (branch.encode(), number)
    yield start.encode()
    for path, data in story.changed.items():
        yield b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data)
    yield b"\n"
    story.changed = {}


def _merge(story: Story, number: int) -> Iterator[bytes]:
    """The change comes in on a branch of its own."""
    changed = story.changed
    yield from _commit(story, number, "side", start="from refs/heads/main\n")
    story.changed = changed
    yield from _commit(story, number, start="merge refs/heads/side\n")
