"""A review as a comment: whatever a commit holds, it stays inside its fence, cell or code span."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cub.actions.review.review import ExecutableChange, FileReview, Review
from cub.actions.review.section_verdict import VERDICT_MEANINGS, SectionReview
from cub.cli import output
from cub.cli.review_format import (
    format_plan_comment,
    format_review,
    format_review_comment,
    summarize_review,
)
from cub.cli.terminal import escape_invisible, escape_unsafe
from cub.edit.plan import FileEdit, Plan
from tests.cli.reviewed import EVIL, FULL, HOSTILE, HOSTILE_NAMES, NOTHING, SMALL, diff, review_of
from tests.examples import few_examples

GOLDEN = {
    "nothing": NOTHING,
    "small": SMALL,
    "full": FULL,
    "hostile": HOSTILE,
    "names": HOSTILE_NAMES,
}
HOST = 65_536  # characters that GitHub accepts


@pytest.mark.parametrize("name", GOLDEN)
def test_comments(name: str, file_regression: object) -> None:
    comment = "\n".join([*format_review_comment(GOLDEN[name]), ""])
    file_regression.check(comment, extension=".md", basename=name)  # type: ignore[attr-defined]


def test_a_plan_as_a_comment(file_regression: object) -> None:
    edits = (
        FileEdit("AGENTS.md", b"a\n", b"b\n```\n", "refresh the section", ("v2: small tasks",)),
        FileEdit("x`y|<b>/AGENTS.md", None, b"new\n", "create"),
        FileEdit(".cub/state.json", None, b"{}\n", "remember", is_local=True),
    )
    comment = "\n".join([*format_plan_comment(Plan(edits)), ""])
    file_regression.check(comment, extension=".md", basename="plan")  # type: ignore[attr-defined]


def test_an_empty_plan_is_one_line() -> None:
    local = FileEdit(".cub/state.json", None, b"{}", is_local=True)
    assert list(format_plan_comment(Plan((local,)))) == ["cub: already up to date."]


# What Markdown may make of a comment of cub's: nothing else may come out of a commit.
_BLOCKS = {"heading_open", "paragraph_open", "table_open", "fence", "html_block", "inline"}
_INLINE = {"text", "code_inline"}
_HTML = re.compile(r"<details><summary>[^<>]*<code>[^<>]*</code></summary>\n|</details>\n?")


def _strangers(comment: str) -> set[str]:
    """Kinds of tokens, and pieces of HTML, that cub itself never writes."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(comment)
    cells = re.compile(r"(thead|tbody|tr|th|td|table|heading|paragraph)_(open|close)")
    found = {t.type for t in tokens if t.type not in _BLOCKS and not cells.fullmatch(t.type)}
    found |= {c.type for t in tokens for c in t.children or () if c.type not in _INLINE}
    return found | {
        t.content for t in tokens if t.type == "html_block" and not _HTML.fullmatch(t.content)
    }


def _fences(comment: str) -> list[list[str]]:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(comment)
    return [t.content.splitlines() for t in tokens if t.type == "fence"]


@pytest.mark.parametrize("name", GOLDEN)
def test_only_cub_s_own_markdown_comes_out(name: str) -> None:
    assert _strangers("\n".join(format_review_comment(GOLDEN[name]))) == set()


_PIECES = [
    "`", "```", "````", "~~~", "|", "\\", "<", ">", "&", "</details>", "<details>", "</code>",
    "<!--", "-->", "\n", "\r", "\n\n", " ", "\t", "#", "- ", "> ", "[a](b)", "![", "*", "_", "<?",
    "\x1b[31m", "\u202e", "\u200b", "\udcff", "a", "@ada", "---", "===", "1. ", "    ",
]  # fmt: skip
_HOSTILE = st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)
_DIFFS = st.lists(_HOSTILE, min_size=1, max_size=5).map(lambda lines: diff("x", *lines))


@st.composite
def _reviews(draw: st.DrawFn) -> Review:
    path, hook = draw(_HOSTILE), f"{draw(_HOSTILE)}/.cub/hooks/{draw(_HOSTILE)}"
    section = SectionReview("edited", 1, 2, 3, draw(_DIFFS), draw(_DIFFS))
    file = FileReview(f"{path}/AGENTS.md", "update", section, draw(_DIFFS))
    return review_of(file, executed=(ExecutableChange("hook", hook, draw(_DIFFS)),))


@few_examples
@given(_reviews())
def test_nothing_in_a_commit_breaks_out(review: Review) -> None:
    comment = "\n".join(format_review_comment(review))
    assert _strangers(comment) == set()
    (file,), (change,) = review.files, review.executable_changes
    assert file.section
    shown = [change.diff, file.section.hand, file.section.diff, file.own_diff]
    assert _fences(comment) == [[*map(escape_invisible, lines)] for lines in shown]
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(comment)
    codes = [c.content for t in tokens for c in t.children or () if c.type == "code_inline"]
    names = [file.path, change.path, file.path]
    # GitHub Flavored Markdown makes `|` of `\|` in a cell.
    assert codes == [escape_invisible(name) for name in names]
    assert sum(t.type == "tr_open" for t in tokens) == 2
    assert sum(t.type == "td_open" for t in tokens) == 3


@pytest.mark.parametrize("name", [" a ", "`", "` `", "``a`", "a\tb", "\\|", "|`|"])
def test_a_name_comes_out_of_its_code_span_as_it_is(name: str) -> None:
    review = review_of(executed=(ExecutableChange("hook", f" {name} ", diff("x", "+y")),))
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(
        "\n".join(format_review_comment(review))
    )
    codes = [c.content for t in tokens for c in t.children or () if c.type == "code_inline"]
    assert codes == [f" {name} "]


def test_long_diffs_are_cut_with_a_count() -> None:
    long = diff("AGENTS.md", *(f"+line {number}" for number in range(2_000)))
    comment = list(format_review_comment(review_of(FileReview("AGENTS.md", "update", None, long))))
    assert "… and 1,703 more lines" in comment
    assert "+line 296" in comment
    assert "+line 297" not in comment
    assert "| `AGENTS.md` | — | +2000 -0 |" in comment


def test_long_lines_and_names_are_cut_with_a_count() -> None:
    long = diff("x", "+" + "a" * 5_000)
    path = "b" * 5_000 + "/AGENTS.md"
    comment = "\n".join(format_review_comment(review_of(FileReview(path, "update", None, long))))
    assert "+" + "a" * 399 + "… and 4,601 more characters" in comment
    assert "b" * 400 + "… and 4,610 more characters" in comment
    assert len(comment) < 3_000


def _many(count: int) -> Review:
    section = SectionReview("verified", 1, 1, 3, diff("x", *["+" + "x" * 900] * 500))
    fine = [FileReview(f"{n:05}/AGENTS.md", "update", section) for n in range(count)]
    hand = SectionReview("edited", 1, 1, 3, diff("x", "+evil"), diff("x", "+evil"))
    return review_of(
        *fine,
        FileReview("z/AGENTS.md", "update", hand),
        executed=(ExecutableChange("hook", ".cub/hooks/a", diff("x", "+sh")),),
    )


@pytest.mark.parametrize(
    "count",
    [
        99,
        100,
        *(pytest.param(count, marks=pytest.mark.thorough) for count in (1, 50, 1_000)),
    ],
)
def test_a_comment_is_never_longer_than_a_host_accepts(count: int) -> None:
    lines = list(format_review_comment(_many(count)))
    assert len("\n".join(lines)) < HOST
    assert _strangers("\n".join(lines)) == set()
    for needed in ("+evil", "+sh", "| `z/AGENTS.md` | ⚠️ v1, edited manually | — |"):
        assert needed in lines
    rows = sum(line.startswith("| `") for line in lines)
    assert rows == min(count + 1, 100)
    assert (f"… and {count - 99:,} more files" in lines) == (count > 99)


def test_what_did_not_fit_is_counted() -> None:
    assert any(
        "more did not fit in this comment" in line for line in format_review_comment(_many(50))
    )
    assert not any("did not fit" in line for line in format_review_comment(FULL))


def test_evil_is_evil() -> None:
    raw = f"{EVIL}\n\n```\n{EVIL}\n```"
    assert _strangers(raw)


REVIEW_LINES_GOLDEN = {"nothing": NOTHING, "small": SMALL, "full": FULL, "hostile": HOSTILE}


@pytest.mark.parametrize("name", REVIEW_LINES_GOLDEN)
def test_lines_for_a_terminal(name: str, file_regression: object) -> None:
    review = REVIEW_LINES_GOLDEN[name]
    lines = [
        *map(escape_unsafe, format_review(review)),
        "",
        escape_unsafe(summarize_review(review)),
        "",
    ]
    file_regression.check("\n".join(lines), extension=".txt", basename=name)  # type: ignore[attr-defined]


@pytest.mark.parametrize("review", [HOSTILE, HOSTILE_NAMES], ids=["files", "names"])
def test_nothing_in_a_review_reaches_a_terminal_unseen(
    review: Review, capsys: pytest.CaptureFixture[str]
) -> None:
    output.print_lines([*format_review(review), summarize_review(review)])
    lines = capsys.readouterr().out.split("\n")[:-1]
    assert len(lines) == len([*format_review(review)]) + 1
    assert [line for line in lines if escape_invisible(line) != line] == []
    assert "# x" not in lines


def test_lines_of_a_diff_cannot_be_taken_for_cubs_own() -> None:
    own = re.compile(
        r"Executable configuration changed:|! |managed section|other text:|manual edits:"
    )
    spoof = ("--- x", "+++ x", "@@", "+! hook: x", " other text: +1", "-managed section in line 1")
    review = review_of(FileReview("AGENTS.md", "update", None, spoof))
    assert [line for line in format_review(review) if own.match(line)] == ["other text: +1 -1"]
    assert EVIL not in "\n".join(map(escape_unsafe, format_review(HOSTILE)))


@pytest.mark.parametrize("verdict", VERDICT_MEANINGS)
def test_every_verdict_is_said_in_words(verdict: str) -> None:
    section = SectionReview(verdict, 1, 1, 5)  # type: ignore[arg-type]
    lines = list(format_review(review_of(FileReview("AGENTS.md", "update", section))))
    assert lines[1] == f"managed section in line 5, v1: {VERDICT_MEANINGS[section.verdict]}"


def test_the_hands_lines_are_shown_once() -> None:
    both = ("--- a", "+++ a", "@@ -1 +1 @@", "-x", "+y")
    section = SectionReview("edited", 1, 1, 5, both, ("--- b", "+++ b", *both[2:]))
    lines = list(format_review(review_of(FileReview("AGENTS.md", "update", section))))
    assert lines.count("+y") == 1
    assert "manual edits:" not in lines


@pytest.mark.parametrize(
    ("review", "sentence"),
    [
        (NOTHING, "No file that cub manages differs between main and oven."),
        (
            SMALL,
            (
                "cub's sections: 0 changed, 0 edited manually. Your files: 1 changed. "
                "Executable configuration: 0 changed."
            ),
        ),
        (
            HOSTILE,
            (
                "cub's sections: 1 changed, 1 edited manually. Your files: 1 changed. "
                "Executable configuration: 1 changed."
            ),
        ),
        (
            FULL,
            (
                "cub's sections: 6 changed, 2 edited manually. Your files: 3 changed. "
                "Executable configuration: 2 changed."
            ),
        ),
    ],
    ids=["nothing", "small", "hostile", "full"],
)
def test_the_last_sentence_counts(review: Review, sentence: str) -> None:
    assert summarize_review(review) == sentence
