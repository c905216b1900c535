"""A diff carries every byte: `git apply` and `patch` make of it what cub writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.edit.plan import FileEdit, Plan
from tests.conftest import git

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_PIECES = [
    b"a", b"b", b"", b"\x1b[31mred\x1b[0m", b"\x1b]0;title\x07", b"\xff\xfe", b"\xc3", b"\0", b"\r",
    b"-- x", b"++ x", b"@@ -1 +1 @@", b"\\ No newline at end of file", b" ", b"\t", b"\x0c",
    "\u2028".encode(), "\x85".encode(), b"diff --git a/x b/x", b"--- a/x", b"+++ b/x",
]  # fmt: skip
_LINES = st.lists(
    st.tuples(st.sampled_from(_PIECES), st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=12
)
_TEXT = st.builds(
    lambda lines, last: b"".join(piece + end for piece, end in lines) + last,
    _LINES,
    st.sampled_from([b"", b"end", b"\r", b"\x1b[0m"]),
)
_FILE = st.none() | _TEXT | st.binary(max_size=60)


def patch_of(plan: Plan) -> bytes:
    """The bytes that `--diff` prints into a pipe."""
    return b"".join(line.encode("utf-8", "surrogateescape") + b"\n" for line in plan.format_diff())


def applied(before: bytes, patch: bytes) -> bytes:
    """What a reader of unified diffs makes of `before`; it refuses context that differs."""
    old, new = [*re.findall(rb"[^\n]*\n|[^\n]+", before)], list[bytes]()
    lines = patch.split(b"\n")[:-1]
    while lines and not lines[0].startswith(b"@@"):
        lines.pop(0)
    at = 0
    while lines:
        found = _HUNK.fullmatch(lines.pop(0))
        assert found
        start, *counts = (int(found[1]), *(int(n) if n else 1 for n in (found[2], found[4])))
        first = start - 1 if counts[0] else start
        new += old[at:first]
        at = first
        while any(counts):
            line = lines.pop(0)
            text = line[1:] + b"\n"
            if lines and lines[0].startswith(b"\\"):
                lines.pop(0)
                text = line[1:]
            if line[:1] in b" -":
                assert old[at] == text
                at, counts[0] = at + 1, counts[0] - 1
            if line[:1] in b" +":
                new.append(text)
                counts[1] -= 1
    return b"".join(new + old[at:])


@given(_TEXT | st.binary(max_size=60), _TEXT | st.binary(max_size=60))
def test_a_diff_makes_the_new_bytes_of_the_old_ones(before: bytes, after: bytes) -> None:
    if before != after:
        assert applied(before, patch_of(Plan((FileEdit("x", before, after),)))) == after


NAMES = [
    "plain.md", "with blank.md", 'quo"te.md', "back\\slash.md", "ta\tb.md", "li\nne.md",
    "caf\u00e9.md", "\udcff.md", "esc\x1b[31m.md", "new folder/x.md", "a b\t.md",
]  # fmt: skip


def _put(root: Path, edits: tuple[FileEdit, ...]) -> None:
    for edit in edits:
        (root / edit.path).parent.mkdir(exist_ok=True)
        if edit.before is not None:
            (root / edit.path).write_bytes(edit.before)


def _states(root: Path, edits: tuple[FileEdit, ...]) -> list[bytes | None]:
    files = (root / edit.path for edit in edits)
    return [file.read_bytes() if file.exists() else None for file in files]


@pytest.mark.skipif(sys.platform != "linux", reason="needs names of any bytes, and GNU patch")
@pytest.mark.parametrize("tool", ["git apply", "patch -p1 -s"])
def test_tools_make_the_new_bytes_of_the_old_ones(tmp_path: Path, tool: str) -> None:
    texts = [b"".join(_PIECES[n] + b"\n" for n in range(s, len(_PIECES), 3)) for s in range(3)]
    texts += [text.replace(b"\n", b"\r\n") for text in texts]
    texts += [text + b"no end" for text in texts]
    edits = [
        FileEdit(f"{n}.md", before, after)
        for n, (before, after) in enumerate(
            (a, b) for a in [None, b"", *texts] for b in [None, b"", *texts] if a != b
        )
    ]
    long = b"".join(b"line %d\n" % n for n in range(40))
    edits += [
        FileEdit("middle.md", long, long.replace(b"line 20\n", b"new\nnewer\n")),
        FileEdit("ends.md", long, b"first\n" + long + b"last"),
        FileEdit("two.md", long, long.replace(b"line 3\n", b"").replace(b"line 35\n", b"x\n")),
    ]
    edits += [FileEdit(name, b"a\n", b"b\n") for name in NAMES]
    edits += [FileEdit(f"new {name}", None, b"b\n") for name in NAMES if "/" not in name]
    plan = Plan(tuple(edits))
    git(tmp_path, "init", "-q")
    _put(tmp_path, plan.edits)
    done = subprocess.run(
        tool.split(), cwd=tmp_path, input=patch_of(plan), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-500:]
    assert _states(tmp_path, plan.edits) == [edit.after for edit in plan.edits]
