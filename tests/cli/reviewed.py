"""A review with everything in it that a line can say, made without a repository."""

from __future__ import annotations

from cub.actions.review.review import ExecutableChange, FileReview, Review
from cub.actions.review.section_verdict import SectionReview
from cub.git.commit_tree import CommitRange

ENDS = CommitRange("1" * 40, "2" * 40, "main", "oven")


def diff(path: str, *lines: str) -> tuple[str, ...]:
    """A diff of one hunk."""
    return (f"--- {path} (before)", f"+++ {path} (after)", "@@ -1,2 +1,2 @@", *lines)


def review_of(
    *files: FileReview, executed: tuple[ExecutableChange, ...] = (), ends: CommitRange = ENDS
) -> Review:
    """A review of these files."""
    return Review(ends, files, executed)


NOTHING = review_of()
SMALL = review_of(
    FileReview("AGENTS.md", "update", None, diff("AGENTS.md", " # Bakery", "-a", "+b"))
)
FULL = review_of(
    FileReview(
        ".cub/runloop.md",
        "update",
        SectionReview("verified", 1, 2, diff=diff(".cub/runloop.md", "+rule"), whole=True),
    ),
    FileReview(
        ".cub/.gitignore",
        "update",
        SectionReview("older", 2, 1, diff=diff(".cub/.gitignore", "-lock"), whole=True),
    ),
    FileReview(
        "AGENTS.md",
        "update",
        SectionReview(
            "verified",
            1,
            2,
            9,
            diff("AGENTS.md", "-Work in tasks:", "+Work in small tasks:"),
            notes=("v2: tasks are small",),
        ),
        diff("AGENTS.md", " # Bakery", "+Bread is counted in dozens."),
    ),
    FileReview(
        "CLAUDE.md",
        "update",
        SectionReview(
            "edited",
            1,
            2,
            1,
            diff("CLAUDE.md", "-old", "+new", "+Ask Ada."),
            diff("CLAUDE.md", "+Ask Ada."),
        ),
    ),
    FileReview(
        "GEMINI.md",
        "update",
        SectionReview(
            "broken",
            1,
            None,
            3,
            diff("GEMINI.md", "-## Cub Integration"),
            ("BEGIN marker without an END marker", "GEMINI.md:3: BEGIN v1"),
        ),
        diff("GEMINI.md", "+<!-- BEGIN CUB MANAGED SECTION v1 -->"),
    ),
    FileReview("a/AGENTS.md", "delete", SectionReview("removed", 1, None, diff=diff("a", "-x"))),
    FileReview("b/AGENTS.md", "update"),
    FileReview("c/AGENTS.md", "create"),
    FileReview(
        "d/CLAUDE.md",
        "update",
        None,
        diff("d/CLAUDE.md", "-Text.", "+AGENTS.md"),
        ("old mode 100644", "new mode 120000"),
    ),
    executed=(
        ExecutableChange(
            "command", ".cub/config.yaml", ('-run.checks: ["make"]', '+run.checks: ["rm"]')
        ),
        ExecutableChange("hook", ".cub/hooks/stop", ("old mode 100644", "new mode 100755")),
    ),
)
EVIL = "</details>`|``<!-- \x1b[31m\u202e\u200b&amp; @ada [x](y) ~~~ #1\n# x"
HOSTILE = review_of(
    FileReview(
        f"{EVIL}/AGENTS.md",
        "update",
        SectionReview(
            "edited",
            1,
            1,
            2,
            diff(EVIL, "+```", "+</details>", f"+{EVIL}", " ~~~"),
            diff(EVIL, "+`````", "+   ```", "+\x1b]0;title\x07"),
        ),
        diff(EVIL, "+" + "`" * 20, "+<script>alert(1)</script>", "+| a | b |", f" {EVIL}"),
    ),
    executed=(ExecutableChange("hook", f"{EVIL}/.cub/hooks/a", diff(EVIL, "+```", "-````")),),
)
HOSTILE_NAMES = review_of(ends=CommitRange("1" * 40, "2" * 40, "<img>`x`\u202e", "@ada|b"))
