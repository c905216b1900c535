from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from threading import Timer

import pytest

from cub.agent.tools.grep import GREP
from cub.agent.tools.line_search import LineQuery, find_lines
from cub.agent.tools.tool import ToolContext
from cub.agent.tools.tool_arguments import ToolError
from cub.agent.tools.tool_text import MAX_RESULT_CHARS
from cub.processes.command import StopRequest
from tests.agent.tools.context import ENVIRON, call, make_context
from tests.written_files import write_files

FILES = {
    "a.py": b"import os\n\ndef run(x):\n    return x\n\n\ndef Walk(y):\n    return run(y)\n",
    "b.ts": b"run('x')\r\nrun('y')\r\n",
    "sub/c.rs": "fn run() {}\n// größe\nif a && b { v[0] <x> }".encode(),
    "sub/d.md": b"run\n",
    "binary": b"run\n\0",
    "empty": b"",
    "-x": b"run\n",
}


@pytest.fixture
def project(tmp_path: Path) -> ToolContext:
    write_files(tmp_path / "project", FILES)
    return make_context(tmp_path / "project")


def grep(tool_context: ToolContext, pattern: str, /, **values: object) -> list[str]:
    return call(GREP, tool_context, pattern=pattern, **values).text.split("\n")


def test_files_with_matches_are_listed_by_path(project: ToolContext) -> None:
    assert grep(project, "run") == ["-x", "a.py", "b.ts", "sub/c.rs", "sub/d.md"]


def test_lines_have_their_numbers(project: ToolContext) -> None:
    assert grep(project, r"^def \w+\(", output_mode="content") == [
        "a.py:3:def run(x):",
        "a.py:7:def Walk(y):",
    ]


def test_context_is_shown_once_with_breaks(project: ToolContext) -> None:
    assert grep(project, "def", output_mode="content", before=1, glob="*.py") == [
        "a.py-2-", "a.py:3:def run(x):", "--", "a.py-6-", "a.py:7:def Walk(y):",
    ]  # fmt: skip
    assert grep(project, "return x|def", output_mode="content", context=1, type="py") == [
        "a.py-2-", "a.py:3:def run(x):", "a.py:4:    return x", "a.py-5-", "a.py-6-",
        "a.py:7:def Walk(y):", "a.py-8-    return run(y)",
    ]  # fmt: skip
    assert grep(project, "x", output_mode="content", after=1, path="b.ts") == [
        "b.ts:1:run('x')",
        "b.ts-2-run('y')",
    ]


def test_files_are_separated_where_context_is_shown(project: ToolContext) -> None:
    shown = grep(project, "^run", output_mode="content", after=1)
    assert shown[:3] == ["-x:1:run", "--", "b.ts:1:run('x')"]


def test_lines_are_counted(project: ToolContext) -> None:
    assert grep(project, "run", output_mode="count") == [
        "-x:1", "a.py:2", "b.ts:2", "sub/c.rs:1", "sub/d.md:1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ({"type": "rust"}, ["sub/c.rs"]),
        ({"type": "ts"}, ["b.ts"]),
        ({"type": "md"}, ["sub/d.md"]),
        ({"glob": "*.{rs,md}"}, ["sub/c.rs", "sub/d.md"]),
        ({"glob": "sub/*.md"}, ["sub/d.md"]),
        ({"glob": "./sub/*.md"}, ["sub/d.md"]),
        ({"path": "sub"}, ["sub/c.rs", "sub/d.md"]),
        ({"path": "sub/d.md"}, ["sub/d.md"]),
        ({"path": "binary"}, ["No match."]),
        ({"type": "go"}, ["No match."]),
        ({"head_limit": 1}, ["-x", "… there is more: raise head_limit, or narrow the search"]),
    ],
)
def test_only_some_files_are_searched(
    project: ToolContext, values: dict[str, str], names: list[str]
) -> None:
    assert grep(project, "run", **values) == names


PATTERNS = [
    ("walk", False, 0), ("walk", True, 1), ("GRÖSSE|größe", False, 1), ("GRÖ", True, 1),
    (r"'\)$", False, 2), ("{}", False, 1), (r"v[[]0]", False, 1), (r"[&&]", False, 1),
    (r"\<x\>", False, 1), (r"(?<=v)\[0", False, 1), (r"[]]", False, 1), (r"^$", False, 3),
    ("", False, 15), (r"\bb\b", False, 1), (r"[^\W\d]{6}", False, 3), ("-x", False, 0),
    (r"\[[:x]", False, 0),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Possible")  # as in cub's own process
@pytest.mark.parametrize(("pattern", "ignores_case", "count"), PATTERNS)
def test_patterns_are_python_s(
    project: ToolContext, pattern: str, ignores_case: bool, count: int
) -> None:
    lines = grep(project, pattern, ignore_case=ignores_case, output_mode="content")
    texts = [data for name, data in FILES.items() if name != "binary"]
    flags = re.IGNORECASE if ignores_case else 0
    expected = sum(
        re.search(pattern, line, flags) is not None
        for data in texts
        for line in data.decode().splitlines()
    )
    assert (0 if lines == ["No match."] else len(lines)) == count == expected


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "not valid"),
        (r"\p{L}", "not valid"),
        ("[[:space:]]", r"'\[\[:space:\]' has a POSIX class"),
        (r"\\[a-z[:digit:]]", "POSIX"),
        ("[a", "not valid"),
        ("a{9999999999}", "not valid"),
    ],
)
def test_a_pattern_that_is_not_valid_is_an_error(
    project: ToolContext, pattern: str, message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        grep(project, pattern)


@pytest.mark.parametrize("values", [{"head_limit": -1}, {"before": -1}, {"path": "none"}])
def test_arguments_that_make_no_sense_are_errors(
    project: ToolContext, values: dict[str, object]
) -> None:
    with pytest.raises(ToolError):
        grep(project, "x", **values)


def test_names_lead_read_to_the_files(project: ToolContext) -> None:
    sub = make_context(project.root, project.root / "sub", project.environ)
    assert grep(sub, "größe") == ["c.rs"]
    assert grep(sub, "Walk", path="..") == [f"{project.root.as_posix()}/a.py"]


def test_long_lines_and_many_matches_are_cut(project: ToolContext) -> None:
    (project.root / "long").write_bytes(b"needle" + b"x" * 10_000_000 + b"\n" + b"needle\n" * 999)
    (line, more) = grep(project, "needle", output_mode="content", head_limit=1)
    assert line.startswith("long:1:needle")
    assert len(line) < 2_100
    assert more.startswith("… there is more")
    text = "\n".join(grep(project, "x|needle", output_mode="content", head_limit=10**30, context=9))
    assert len(text) <= MAX_RESULT_CHARS + 100


def test_a_very_large_file_is_left_out_and_said(project: ToolContext) -> None:
    with (project.root / "large").open("wb") as file:
        file.write(b"needle\n")
        file.truncate((20 << 20) + 1)
    assert grep(project, "needle") == [
        "No match.", "(1 files of more than 20 MiB were not searched.)",
    ]  # fmt: skip


def test_what_git_ignores_and_git_s_own_files_are_left_out(project: ToolContext) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    (project.root / ".gitignore").write_text("sub\n")
    (project.root / ".git" / "note").write_text("run")
    assert grep(project, "run") == ["-x", "a.py", "b.ts"]
    assert grep(project, "run", path="sub") == ["sub/c.rs", "sub/d.md"]
    with pytest.raises(ToolError, match="belongs to git"):
        grep(project, "run", path=".git")


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "utf-8-sig"])
def test_other_encodings_are_searched(project: ToolContext, codec: str) -> None:
    (project.root / "wide.txt").write_bytes("größe\r\nNadel — größe\r\nend".encode(codec))
    shown = ["wide.txt:1:größe", "wide.txt:2:Nadel — größe"]
    assert grep(project, "größe", output_mode="content", glob="*.txt") == shown
    assert grep(project, "^größe$", output_mode="count", glob="*.txt") == ["wide.txt:1"]


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        (r"def run.*?return", [3, 4]),
        (r"\n\ndef Walk", [5, 6, 7]),
        (r"return \w+$", [4]),
        (r"^def", [3, 7]),
        (r"\n", [1, 2, 3, 4, 5, 6, 7]),
        (r"os\n", [1]),
        (r"\Z", [8]),
        ("", [1, 2, 3, 4, 5, 6, 7, 8]),
        (r"import \w+\r", []),
    ],
)
def test_a_pattern_may_span_lines(project: ToolContext, pattern: str, numbers: list[int]) -> None:
    lines = grep(project, pattern, multiline=True, output_mode="content", path="a.py")
    assert lines == [
        f"a.py:{number}:{line}"
        for number, line in enumerate(FILES["a.py"].decode().split("\n"), 1)
        if number in numbers
    ] or (lines == ["No match."] and not numbers)


def test_no_limit_is_what_fits(project: ToolContext) -> None:
    (project.root / "many").write_bytes(b"needle\n" * 999)
    assert len(grep(project, "needle", output_mode="content", head_limit=0)) == 999


def test_a_link_is_not_followed(project: ToolContext) -> None:
    (project.root / "link").symlink_to("a.py")
    (project.root / "loop").symlink_to(".")
    assert grep(project, "Walk") == ["a.py"]


@pytest.mark.skipif(os.name == "nt", reason="needs FIFOs")
def test_a_fifo_is_not_waited_for(project: ToolContext) -> None:
    os.mkfifo(project.root / "pipe")
    assert grep(project, "Walk") == ["a.py"]
    with pytest.raises(ToolError, match="not a regular file"):
        grep(project, "Walk", path="pipe")


def test_names_that_are_not_utf_8_are_searched(project: ToolContext) -> None:
    try:
        Path(os.fsdecode(os.fsencode(project.root) + b"/caf\xe9")).write_text("needle")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert grep(project, "needle") == [r'"caf\351"']


def test_a_pattern_that_takes_forever_is_ended(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 40 + "!\n")
    context = make_context(tmp_path)
    query = LineQuery("(a+)+$", ignore_case=False, max_lines=1)
    start = time.monotonic()
    with pytest.raises(ToolError, match="timed out after"):
        list(find_lines(query, tmp_path, ["a"], context, max_seconds=0.2))
    assert time.monotonic() - start < 20


def test_a_requested_stop_ends_a_search(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 40 + "!\n")
    stop = StopRequest()
    context = ToolContext(tmp_path, tmp_path, ENVIRON, stop)
    timer = Timer(0.1, stop.request)
    timer.start()
    with pytest.raises(ToolError, match="was stopped"):
        grep(context, "(a+)+$")
    timer.join()
    stop.close()
