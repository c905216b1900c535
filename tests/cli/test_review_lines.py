from __future__ import annotations

import re

import pytest

from cub.actions.review.review import FileReview, Review
from cub.actions.review.verdict import MEANING, SectionReview
from cub.cli import output
from cub.cli.colors import harmless
from cub.cli.review_lines import closing, text
from cub.cli.visible import visible
from tests.cli.reviewed import EVIL, FULL, HOSTILE, HOSTILE_NAMES, NOTHING, SMALL, review_of

GOLDEN = {"nothing": NOTHING, "small": SMALL, "full": FULL, "hostile": HOSTILE}


@pytest.mark.parametrize("name", GOLDEN)
def test_lines_for_a_terminal(name: str, file_regression: object) -> None:
    review = GOLDEN[name]
    lines = [*map(harmless, text(review)), "", harmless(closing(review)), ""]
    file_regression.check("\n".join(lines), extension=".txt", basename=name)  # type: ignore[attr-defined]


@pytest.mark.parametrize("review", [HOSTILE, HOSTILE_NAMES], ids=["files", "names"])
def test_nothing_in_a_review_reaches_a_terminal_unseen(
    review: Review, capsys: pytest.CaptureFixture[str]
) -> None:
    output.lines([*text(review), closing(review)])
    lines = capsys.readouterr().out.split("\n")[:-1]
    assert len(lines) == len([*text(review)]) + 1
    assert [line for line in lines if visible(line) != line] == []
    assert "# x" not in lines


def test_lines_of_a_diff_cannot_be_taken_for_cubs_own() -> None:
    own = re.compile(r"What executes has changed:|! |managed section|other text:|the hand's lines:")
    spoof = ("--- x", "+++ x", "@@", "+! hook: x", " other text: +1", "-managed section in line 1")
    review = review_of(FileReview("AGENTS.md", "update", None, spoof))
    assert [line for line in text(review) if own.match(line)] == ["other text: +1 -1"]
    assert EVIL not in "\n".join(map(harmless, text(HOSTILE)))


@pytest.mark.parametrize("verdict", MEANING)
def test_every_verdict_is_said_in_words(verdict: str) -> None:
    section = SectionReview(verdict, 1, 1, 5)  # type: ignore[arg-type]
    lines = list(text(review_of(FileReview("AGENTS.md", "update", section))))
    assert lines[1] == f"managed section in line 5, v1: {MEANING[section.verdict]}"


def test_the_hands_lines_are_shown_once() -> None:
    both = ("--- a", "+++ a", "@@ -1 +1 @@", "-x", "+y")
    section = SectionReview("edited", 1, 1, 5, both, ("--- b", "+++ b", *both[2:]))
    lines = list(text(review_of(FileReview("AGENTS.md", "update", section))))
    assert lines.count("+y") == 1
    assert "the hand's lines:" not in lines


@pytest.mark.parametrize(
    ("review", "sentence"),
    [
        (NOTHING, "No file that cub manages differs between main and oven."),
        (SMALL, "0 parts of cub's changed, none touched by hand, 1 file {} 0 changes {}"),
        (HOSTILE, "1 part of cub's changed, 1 touched by hand, 1 file {} 1 change {}"),
        (FULL, "6 parts of cub's changed, 2 touched by hand, 3 files {} 2 changes {}"),
    ],
    ids=["nothing", "small", "hostile", "full"],
)
def test_the_last_sentence_counts(review: Review, sentence: str) -> None:
    assert closing(review) == sentence.format("changed by people,", "to what executes.")
