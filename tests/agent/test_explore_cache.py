from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.explore_cache import ExploreCache
from cub.agent.tools.edit_file import EDIT
from cub.agent.tools.glob_files import GLOB
from cub.agent.tools.grep import GrepArguments
from cub.agent.tools.read_file import READ
from cub.agent.tools.tool import Tool, ToolContext, ToolOutput, define_tool
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.write_file import WRITE
from tests.agent.tools.context import call, make_context
from tests.written_files import write_files


class Clock:
    """A time in seconds that tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Session:
    """A folder with a cache, and calls that go through it as those of the agent do."""

    def __init__(self, folder: Path, *, max_entries: int = 200, is_enabled: bool = True) -> None:
        self.clock = Clock()
        self.cache = ExploreCache(max_entries=max_entries, is_enabled=is_enabled, clock=self.clock)
        self.context = make_context(folder)
        self.root = self.context.root

    def call(self, tool: Tool, **values: object) -> tuple[ToolOutput, bool]:
        """The output, and whether it is from the cache."""
        key = self.cache.make_key(tool, values, self.context)
        if output := self.cache.find_output(key):
            return output, True
        output = call(tool, self.context, **values)
        for path in output.changed:
            self.cache.invalidate_path(path)
        self.cache.store_output(key, output)
        return output, False

    def is_hit(self, tool: Tool, **values: object) -> bool:
        return self.call(tool, **values)[1]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    names = ("a", "sub/b", "sub/deep/c", "other/d")
    write_files(tmp_path, {name: f"text of {name}\n" for name in names})
    return Session(tmp_path)


def test_a_read_is_kept_while_the_file_is_the_same(session: Session) -> None:
    assert not session.is_hit(READ, file_path="a")
    session.clock.now += 10_000
    output, is_hit = session.call(READ, file_path="a")
    assert (output.text, is_hit) == ("1\ttext of a", True)
    (session.root / "a").write_text("TEXT of a!\n")
    assert session.call(READ, file_path="a") == (ToolOutput("1\tTEXT of a!"), False)
    assert session.is_hit(READ, file_path="a")


def test_the_order_of_arguments_does_not_matter_but_their_values_do(session: Session) -> None:
    session.call(READ, file_path="a", offset=1, limit=5)
    assert session.is_hit(READ, limit=5, offset=1, file_path="a")
    assert not session.is_hit(READ, limit=6, offset=1, file_path="a")
    assert not session.is_hit(GLOB, pattern="a")


def test_the_folder_of_a_call_matters(session: Session) -> None:
    session.call(GLOB, pattern="*")
    other = make_context(session.root, session.root / "sub")
    key = session.cache.make_key(GLOB, {"pattern": "*"}, other)
    assert session.cache.find_output(key) is None


def test_a_search_is_kept_for_a_time(session: Session) -> None:
    session.call(GLOB, pattern="**")
    session.clock.now += 29.9
    assert session.is_hit(GLOB, pattern="**")
    session.clock.now += 0.1
    assert not session.is_hit(GLOB, pattern="**")
    assert session.is_hit(GLOB, pattern="**")


def test_a_link_that_leads_elsewhere_is_another_file(session: Session) -> None:
    (session.root / "link").symlink_to("a")
    session.call(READ, file_path="link")
    (session.root / "link").unlink()
    (session.root / "link").symlink_to("other/d")
    assert session.call(READ, file_path="link") == (ToolOutput("1\ttext of other/d"), False)


def test_a_write_drops_the_file_and_the_searches_around_it(session: Session) -> None:
    searches = [{"pattern": "*", "path": path} for path in (".", "sub", "sub/deep", "other")]
    for search in searches:
        session.call(GLOB, **search)
    for name in ("a", "sub/b"):
        session.call(READ, file_path=name)
    session.call(WRITE, file_path="sub/b", content="new")
    assert [session.is_hit(GLOB, **search) for search in searches] == [False, False, True, True]
    assert [session.is_hit(READ, file_path=name) for name in ("a", "sub/b")] == [True, False]


def test_a_write_of_what_git_ignores_drops_all_searches(session: Session) -> None:
    for path in (".", "sub/deep"):
        session.call(GLOB, pattern="*", path=path)
    session.call(WRITE, file_path="sub/.gitignore", content="c")
    assert not session.is_hit(GLOB, pattern="*", path="sub/deep")
    assert not session.is_hit(GLOB, pattern="*", path=".")


def test_a_command_drops_all(session: Session) -> None:
    def hits() -> list[bool]:
        searches = [session.is_hit(GLOB, pattern="*", path=p) for p in (".", "sub/deep", "other")]
        names = ("a", "sub/deep/c")
        return searches + [session.is_hit(READ, file_path=name) for name in names]

    hits()
    assert hits() == [True] * 5
    session.cache.invalidate_all()
    assert hits() == [False] * 5
    assert session.cache.statistics.invalidations == 5


def test_an_error_is_never_kept(session: Session) -> None:
    for _ in range(2):
        with pytest.raises(ToolError):
            session.call(READ, file_path="none")
    assert session.cache.statistics.entries == 0
    (session.root / "none").write_text("now\n")
    assert session.call(READ, file_path="none")[0].text == "1\tnow"


def test_an_image_is_not_kept(session: Session) -> None:
    (session.root / "i.gif").write_bytes(b"GIF89a")
    session.call(READ, file_path="i.gif")
    assert not session.is_hit(READ, file_path="i.gif")


def test_the_entry_that_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    session = Session(tmp_path, max_entries=2)
    for name in "abc":
        (tmp_path / name).write_text(name)
    order = ["a", "b", "a", "c", "a", "b"]
    assert [session.is_hit(READ, file_path=n) for n in order] == [
        False, False, True, False, True, False,
    ]  # fmt: skip
    assert session.cache.statistics.evictions == 2


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    session = Session(tmp_path, is_enabled=False)
    (tmp_path / "a").write_text("a")
    assert [session.is_hit(READ, file_path="a") for _ in range(2)] == [False, False]
    assert session.cache.statistics == (0, 0, 0, 0, 0)


def test_what_happened_is_counted(session: Session) -> None:
    for name in ("a", "a", "sub/b"):
        session.call(READ, file_path=name)
    session.cache.invalidate_path(session.root / "a")
    session.call(WRITE, file_path="new", content="x")
    assert session.cache.statistics == (1, 1, 2, 1, 0)
    session.cache.clear()
    assert session.cache.statistics.entries == 0


def _search_in_this_process(arguments: GrepArguments, context: ToolContext) -> ToolOutput:
    start = context.resolve_path(arguments.path)
    files = sorted(start.rglob("*")) if start.is_dir() else [start]
    return ToolOutput("\n".join(f"{f}:{f.read_text()}" for f in files if f.is_file()))


FAST_GREP = define_tool(
    "Grep", "", GrepArguments, _search_in_this_process, "read", subject="pattern", search="glob"
)
NAMES = st.sampled_from(["a", "sub/b", "sub/deep/c"])
CONTENTS = st.sampled_from(["one", "two", "six", "three"])
CALLS: list[tuple[Tool, dict[str, str]]] = [
    *((READ, {"file_path": name}) for name in ("a", "sub/b", "sub/deep/c")),
    *((GLOB, {"pattern": "**", "path": folder}) for folder in (".", "sub", "sub/deep")),
    *((FAST_GREP, {"pattern": "x", "path": path}) for path in (".", "sub", "sub/b")),
]
CHANGES = st.one_of(
    st.tuples(st.just("write"), NAMES, CONTENTS),
    st.tuples(st.just("edit"), NAMES, CONTENTS),
    st.tuples(st.just("external"), NAMES, CONTENTS),
    st.tuples(st.just("command"), NAMES, CONTENTS),
    st.tuples(st.just("wait"), st.sampled_from(["1", "29", "30"])),
)
# Each change, and which calls are made after it.
STEPS = st.tuples(CHANGES, st.sets(st.integers(0, len(CALLS) - 1)))


class CheckedSession(Session):
    """Compare each hit with a fresh call, and know which changes the cache can't see."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.external: list[tuple[float, Path]] = []
        self.searched: dict[str, float] = {}
        self.mtime = 10**18

    def explore(self, tool: Tool, **values: object) -> None:
        key = self.cache.make_key(tool, values, self.context)
        output = self.cache.find_output(key)
        try:
            fresh = call(tool, self.context, **values)
        except (ToolError, OSError):
            assert output is None or (key and self.is_unseen(key.call, key.path))
            return
        if output is None:
            self.cache.store_output(key, fresh)
            if key:
                self.searched[key.call] = self.clock.now
        elif output != fresh:
            assert key
            assert tool.name != READ.name
            assert self.is_unseen(key.call, key.path)

    def is_unseen(self, call_key: str, scope: Path) -> bool:
        """Whether something changed externally below a search, not longer ago than it is valid."""
        since = self.searched[call_key]
        assert self.clock.now - since < 30
        return any(when >= since and path.is_relative_to(scope) for when, path in self.external)

    def change(self, name: str, content: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        self.mtime += 10**9
        os.utime(path, ns=(0, self.mtime))
        return path

    def modify(self, tool: Tool, name: str, **values: object) -> None:
        path = self.root / name
        if path.exists():
            self.context.reads.record_file(path, path.read_bytes())
        try:
            output = call(tool, self.context, file_path=name, **values)
        except ToolError:
            return
        for changed in output.changed:
            self.cache.invalidate_path(changed)

    def make_change(self, kind: str, *words: str) -> None:
        match kind, *words:
            case "write", name, content:
                self.modify(WRITE, name, content=content)
            case "edit", name, content:
                self.modify(EDIT, name, old_string="one", new_string=content)
            case "external", name, content:
                self.external.append((self.clock.now, self.change(name, content)))
            case "command", name, content:
                self.change(name, content)
                self.cache.invalidate_all()
            case _:
                self.clock.now += float(words[0])


@given(st.lists(STEPS, min_size=1, max_size=12))
def test_a_hit_is_what_a_new_call_would_return(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[tuple[str, ...], set[int]]]
) -> None:
    session = CheckedSession(tmp_path_factory.mktemp("cache"))
    for name in ("a", "sub/b", "sub/deep/c"):
        session.change(name, "one")
    for tool, values in CALLS:
        session.explore(tool, **values)
    for change, numbers in steps:
        session.make_change(*change)
        for number in sorted(numbers):
            tool, values = CALLS[number]
            session.explore(tool, **values)
