"""Whatever an older project holds: no byte of a person's is lost, and one run is enough."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.actions.init_update import InitOptions, plan_init, plan_update
from cub.actions.managed_files import MAP
from cub.edit.plan import Plan
from cub.project.project import Project
from tests.actions.helpers import init, update
from tests.actions.migrating import OPENINGS, STAND_INS, whole, with_stand_ins
from tests.examples import limit_examples

# Two whole projects an example, each migrated and looked at.
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs links")

_KNOWN = {path.name: path.read_bytes() for path in STAND_INS.iterdir()}
_SECTION = b"# Old\n\nText of cub's."
_OLD = (
    b"<!-- BEGIN CUB MANAGED SECTION v1 -->\n<!-- sha256:%s -->\n%s\n"
    b"<!-- END CUB MANAGED SECTION -->\n"
) % (sha256(_SECTION).hexdigest().encode(), _SECTION)

# A few texts, so that two files are often the same.
_MINE = st.sampled_from([b"One.\n", b"Two.\r\n", b"", b"\xff\x00"])
_PROMPT = st.one_of(_MINE, st.just(_KNOWN["prompt.md"]))
_AGENT = st.one_of(_MINE, st.sampled_from([_KNOWN["agent.md"], b"Three.\n\n" + _OLD]))
_PRUNED = st.sampled_from([text.encode() for text in OPENINGS.values()])
_JSON = st.sampled_from([b"{}", b'{"harness": "codex"}', b'{"project_id": "x"}\n', b"[", b"[]"])
_TEXT = st.sampled_from([b"Three.\n", b"Three.\n\n" + _OLD, b"@AGENTS.md\n", b"@PROMPT.md\n"])

_FILES = {
    "PROMPT.md": st.one_of(_PROMPT, st.sampled_from([".cub/prompt.md", "docs/x.md", "../x.md"])),
    "AGENT.md": st.one_of(_AGENT, st.just(".cub/agent.md")),
    ".cub/prompt.md": _PROMPT,
    ".cub/agent.md": _AGENT,
    ".cub/runloop.md": st.one_of(_MINE, st.just(_KNOWN["runloop.md"])),
    ".cub/runloop.md.old": _MINE,
    ".cub/config.json": _JSON,
    ".cub/config.json.old": _MINE,
    ".cub.json": _JSON,
    ".cub/config.yaml": st.sampled_from(
        [b"# ours\nplacement: bottom\n", b"run: {harness: a}\n", b"placement: top\r\nschema: 0\r\n"]
    ),
    ".cub/guardrails.md": st.one_of(_MINE, _PRUNED),
    "progress.txt": st.one_of(_MINE, _PRUNED, st.sampled_from(["docs/x.md", "fix_plan.md"])),
    "fix_plan.md": st.one_of(_MINE, _PRUNED),
    "AGENTS.md": st.one_of(_TEXT, st.sampled_from(["CLAUDE.md", ".cub/agent.md"])),
    "CLAUDE.md": st.one_of(_TEXT, st.just(".cub/agent.md")),
    "docs/x.md": _MINE,
}
_WORLD = st.fixed_dictionaries({}, optional=_FILES)
_MANAGED = {"AGENTS.md", "CLAUDE.md", ".cub/agent.md"}
# All that these say is in config.yaml afterwards.
_CARRIED = {b"{}", b'{"harness": "codex"}'}


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_stand_ins(tmp_path_factory.mktemp("known") / "migrations")


def _build(root: Path, world: dict[str, bytes | str]) -> None:
    """Files first, then links: of instruction files only those that lead somewhere."""
    root.mkdir()
    for path, data in sorted(world.items(), key=lambda item: isinstance(item[1], str)):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, bytes):
            file.write_bytes(data)
        elif path not in _MANAGED or (root / data).is_file():
            file.symlink_to(data)


@limit_examples(25)
@given(_WORLD, st.sampled_from([init, update]))
def test_nothing_is_lost_and_nothing_is_left_to_do(
    known: Path, world: dict[str, bytes | str], command: Callable[..., Plan]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        _build(root, {".cub/learned-routes.md": b"A trace.\n", **world})
        before = whole(root)
        command(root, migrations=known)
        _assert_kept(before, whole(root))
        assert plan_update(Project.load(root), migrations=known).is_empty
        if command is init:
            assert plan_init(Project.load(root), InitOptions(migrations=known)).is_empty


@limit_examples(25)
@given(_WORLD)
def test_nothing_is_touched_where_the_traces_are_missing(
    known: Path, world: dict[str, bytes | str]
) -> None:
    own = {path: data for path, data in world.items() if not path.startswith((".cub", "progress"))}
    named = own.keys() - _MANAGED
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        _build(root, own)
        before = whole(root)
        init(root, migrations=known, prune=True)
        after = whole(root)
        assert {path: after[path] for path in named} == {path: before[path] for path in named}
        assert ".cub/config.yaml" not in after


def _assert_kept(before: dict[str, bytes | str], after: dict[str, bytes | str]) -> None:
    kept = [data for data in after.values() if isinstance(data, bytes)]
    for path, data in before.items():
        if isinstance(data, str):
            assert after.get(path, data) == data, path
        elif data in _KNOWN.values() or (path.endswith(".json") and data in _CARRIED):
            continue
        elif path == ".cub/config.yaml":
            found = after[path]
            assert isinstance(found, bytes)
            assert data.replace(b"schema: 0\r\n", b"") in found
        elif path in _MANAGED:
            assert any(data.replace(_OLD, b"").rstrip() in other for other in kept), path
        else:
            assert data in kept, path
    for path, data in after.items():
        dangling = isinstance(data, str) and data in before and data not in after
        assert not dangling, path


@limit_examples(25)
@given(_WORLD)
def test_prune_deletes_only_what_it_names(known: Path, world: dict[str, bytes | str]) -> None:
    named = {"progress.txt", "fix_plan.md", ".cub/guardrails.md"}
    with tempfile.TemporaryDirectory() as folder:
        plain, pruned = (Path(folder).resolve() / name for name in ("plain", "pruned"))
        for root, prune in ((plain, False), (pruned, True)):
            _build(root, {".cub/learned-routes.md": b"A trace.\n", "src/a.py": b"", **world})
            init(root, migrations=known, prune=prune)
        kept, left = whole(plain), whole(pruned)
        for found in (kept, left):
            assert found.pop(MAP)  # it speaks of the files, and so of those that are gone
        copies = {path.read_bytes() for path in (pruned / ".cub/backups").glob("*")}
        gone = {path: kept[path] for path in kept.keys() - left.keys()}
        assert gone.keys() <= named
        assert {data for data in gone.values() if isinstance(data, bytes)} <= copies
        assert not {*gone.values()} & {b"One.\n", b"Two.\r\n", b"", b"\xff\x00"}
        assert left.items() <= kept.items()
