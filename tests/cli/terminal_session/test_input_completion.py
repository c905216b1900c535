from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from cub.cli.terminal_session.input_completion import (
    Candidate,
    InputCompleter,
    InputSuggester,
    UsageCounts,
    rank_paths,
)
from cub.files.signed_state import find_project_state

CANDIDATES = {
    name: Candidate(name, arguments, "does it", lambda: ("once", "often"))
    for name, arguments in (("/clear", ""), ("/compact", "[--force]"), ("/quit", ""))
}
FILES = ["bread.py", "docs/bread.md", "docs/a b.md", "test_bread.py"]


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def counts_file(home: Path) -> Path:
    return find_project_state(home) / "counts.json"


@pytest.fixture
def counts(counts_file: Path) -> UsageCounts:
    return UsageCounts(counts_file, Clock())


def complete(counts: UsageCounts, text: str) -> list[str]:
    """What an input becomes with each completion, the best one first."""
    completer = InputCompleter(lambda: CANDIDATES, lambda: FILES, counts)
    found = completer.get_completions(Document(text), CompleteEvent())
    return [text[: len(text) + one.start_position] + one.text for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/c", ["/clear", "/compact"]),
        ("/pc", ["/compact"]),
        ("/cp!", []),
        ("/qt", ["/quit"]),
        ("/ct", ["/compact"]),
        ("a /c", []),
        ("x\n/c", []),
        ("/clear o", ["/clear once", "/clear often"]),
        ("/clear once o", []),
        ("/other o", []),
        ("see @bread", ["see @bread.py", "see @docs/bread.md", "see @test_bread.py"]),
        ("@docs/b", ["@docs/bread.md"]),
        ("@DOCS/A", ['@"docs/a b.md"']),
        ("me@bread", []),
        ("@bread and", []),
    ],
)
def test_commands_arguments_and_files_are_completed(
    counts: UsageCounts, text: str, expected: list[str]
) -> None:
    assert complete(counts, text) == expected


def test_what_was_used_comes_first(counts: UsageCounts) -> None:
    counts.count_use("/compact")
    counts.count_use("test_bread.py")
    assert complete(counts, "/c")[0] == "/compact"
    assert complete(counts, "@bread")[0] == "@test_bread.py"


def test_uses_are_remembered_and_fade(counts_file: Path) -> None:
    clock = Clock()
    counts = UsageCounts(counts_file, clock)
    for name in ("old", "old", "old"):
        counts.count_use(name)
    clock.now += 10 * 86_400
    counts.count_use("new")
    again = UsageCounts(counts_file, clock)
    assert again.rank("new") > again.rank("old") > again.rank("never") == 0
    for number in range(400):
        again.count_use(f"name {number}")
    assert UsageCounts(counts_file, clock).rank("old") == 0


def test_counts_that_are_damaged_or_cannot_be_stored_cost_nothing(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text("{")
    assert UsageCounts(tmp_path / "counts.json").rank("a") == 0
    nowhere = UsageCounts(tmp_path / "counts.json/x")
    nowhere.count_use("a")
    assert nowhere.rank("a") > 0


def test_paths_are_ranked_by_their_names_and_depth() -> None:
    paths = ["src/deep/map.py", "src/map.py", "bitmap.py", "maps/x.py"]
    assert rank_paths(paths, "map", lambda _: 0.0) == [
        "maps/x.py", "src/map.py", "src/deep/map.py", "bitmap.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "rest"), [("/qu", "it"), ("/", None), ("/x", None), ("/quit ", None), ("Why", " not?")]
)
def test_the_rest_of_a_command_or_of_an_earlier_input_is_suggested(
    counts: UsageCounts, text: str, rest: str | None
) -> None:
    completer = InputCompleter(lambda: CANDIDATES, lambda: FILES, counts)
    buffer = Buffer()
    buffer.history.append_string("Why not?")
    suggestion = InputSuggester(completer).get_suggestion(buffer, Document(text))
    assert (suggestion.text if suggestion else None) == rest
