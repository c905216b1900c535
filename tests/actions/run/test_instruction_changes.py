"""Instruction files are the person's: what an attempt changes in them is named, and may fail it."""

from __future__ import annotations

import pytest

from cub.actions.run.instruction_changes import (
    InstructionChange,
    describe_instruction_changes,
    judge_instruction_changes,
)
from cub.edit.section_writer import render_section
from tests.actions.run.conftest import CopyShop
from tests.actions.run.shop import Done, Shop
from tests.conftest import git
from tests.examples import keep_few

_SECTION = render_section("Do what the map says.", 1, b"\n").decode()
_AGENTS = f"# Mine\n\n{_SECTION}\n"
_NEWER = render_section("Do what the new map says.", 2, b"\n").decode()


def _prepare(bakery: Shop) -> None:
    bakery.write("AGENTS.md", _AGENTS)
    bakery.write("CLAUDE.md", "# Claude\n")
    bakery.write("pkg/AGENTS.md", "Of the package\n")
    bakery.write("pkg/a.py", "A = 1\n")
    bakery.write(".cursor/rules/own.mdc", "A rule\n")
    bakery.write("docs/REAL.md", _AGENTS)
    (bakery.root / "GEMINI.md").symlink_to("docs/REAL.md")
    bakery.commit("stock")
    bakery.write("../newer", _NEWER + "\n")


@pytest.fixture
def instructed(copy_shop: CopyShop) -> Shop:
    shop = copy_shop(_prepare)
    shop.write("../newer", _NEWER + "\n")
    return shop


def _work(shop: Shop, shell: str, **task: str) -> Done:
    shop.task(**task)
    return shop.run_agent(f"echo B > b.py; {shell}", once=True)


@pytest.mark.parametrize(
    ("shell", "told"),
    keep_few(
        [
            (
                "sed -i 's/map/cat/' AGENTS.md; git commit -qam mine",
                "cub's section in AGENTS.md was changed",
            ),
            ("rm AGENTS.md", "the instruction file AGENTS.md was deleted"),
            ("rm .cursor/rules/own.mdc", "the instruction file .cursor/rules/own.mdc was deleted"),
            ("git mv CLAUDE.md docs/", "the instruction file CLAUDE.md was deleted"),
            ("sed -i /cub:/d AGENTS.md", "cub's section in AGENTS.md was changed"),
            ("sed -i '/END/d' AGENTS.md", "cub's section in AGENTS.md was changed"),
            ("sed -i 's/map/cat/' docs/REAL.md", "cub's section in docs/REAL.md was changed"),
            (
                "ln -sf README.md CLAUDE.md",
                "the instruction file CLAUDE.md was replaced with a link",
            ),
            (
                "rm CLAUDE.md; mkdir CLAUDE.md; echo x > CLAUDE.md/x",
                "the instruction file CLAUDE.md was deleted",
            ),
            ("rm pkg/AGENTS.md", "the instruction file pkg/AGENTS.md was deleted"),
        ],
        3,
    ),
)
def test_what_takes_instructions_away_fails_and_comes_back(
    instructed: Shop, shell: str, told: str
) -> None:
    head = instructed.head
    done = _work(instructed, shell)
    assert done.outcomes == ["instructions_changed"]
    (end,) = done.of("attempt_end")
    assert end["fail"]["reason"] == f"{told}, and the task does not name the file"
    assert told in end["obs"]
    assert git(instructed.root, "diff", "--stat", head, "--", ".", ":!.cub") == ""
    assert (instructed.root / "AGENTS.md").read_text() == _AGENTS


@pytest.mark.parametrize(
    ("shell", "told"),
    keep_few(
        [
            ("echo more >> AGENTS.md", "the instruction file AGENTS.md was changed"),
            ("cat ../newer > AGENTS.md", "the instruction file AGENTS.md was changed"),
            ("echo x > pkg/CLAUDE.md", "the instruction file pkg/CLAUDE.md is new"),
            ("rm -r pkg", "the instruction file pkg/AGENTS.md was deleted"),
            ("echo x > .cub/own.md; git add -f .cub/own.md", "cub's file .cub/own.md is new"),
        ],
        2,
    ),
)
def test_any_other_change_is_named(instructed: Shop, shell: str, told: str) -> None:
    done = _work(instructed, shell)
    (end,) = done.of("attempt_end")
    message = git(instructed.root, "log", "-1", "--format=%B", "--grep", "task(s-1)")
    assert done.outcomes == ["ok"]
    assert told in end["obs"]
    assert told in done.notices
    assert f"Review these changes:\n\n- {told}\n" in message


def test_a_task_that_names_the_file_may_do_anything_to_it(instructed: Shop) -> None:
    done = _work(instructed, "rm AGENTS.md", title="Delete AGENTS.md")
    assert done.outcomes == ["ok"]
    told = "the instruction file AGENTS.md was deleted"
    assert told in done.of("attempt_end")[0]["obs"]
    assert f"- {told}\n" in git(instructed.root, "log", "-1", "--format=%B", "--grep", "task(s-1)")


def test_a_check_takes_no_instructions_away_either(instructed: Shop) -> None:
    done = instructed.run_agent(
        "echo B > b.py", once=True, checks="test ! -e b.py || sed -i s/map/cat/ AGENTS.md"
    )
    assert done.outcomes == ["instructions_changed"]
    assert (instructed.root / "AGENTS.md").read_text() == _AGENTS


def test_the_configuration_that_an_agent_changes_is_named(bakery: Shop) -> None:
    bakery.task()
    bakery.client("cat > /dev/null; echo B > b.py; echo '# more' >> .cub/config.yaml")
    bakery.commit("configured")
    done = bakery.run(once=True)
    assert done.outcomes == ["ok"]
    assert "cub's file .cub/config.yaml was changed" in done.of("attempt_end")[0]["obs"]
    shown = bakery.call("run", "show", "s-1").out
    assert "cub's file .cub/config.yaml was changed" in shown


def test_forbidden_changes_are_named_first_and_the_rest_counted() -> None:
    changes = [InstructionChange(f"{n}.md", f"{n} was changed") for n in range(4)]
    changes.append(InstructionChange("AGENTS.md", "AGENTS.md was deleted", is_forbidden=True))
    assert [*describe_instruction_changes(changes)] == [
        "AGENTS.md was deleted",
        "0 was changed",
        "1 was changed",
        "2 more instruction files were changed",
    ]
    assert judge_instruction_changes(changes[:4], {"title": "x"}) is None
    assert judge_instruction_changes(changes, {"title": "Delete AGENTS.md"}) is None
    assert judge_instruction_changes(changes, {"title": "x"}) is not None
