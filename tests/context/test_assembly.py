from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from cub.context.assembly import (
    AssembledContext,
    ContextRequest,
    assemble_context,
    estimate_simple_tokens,
    plan_context,
)
from cub.context.text_reader import TextReader
from cub.errors import CubError
from tests.context.places import make_reader
from tests.written_files import write_files

SECTION = """\
<!-- BEGIN CUB MANAGED SECTION v1 -->
<!-- cub:digest sha256-0000000000000000 -->
Run `cub task ready`. CUB
<!-- END CUB MANAGED SECTION -->
"""


def assemble(reader: TextReader, blocks: Any = (), **request: Any) -> AssembledContext:
    return assemble_context(reader, plan_context(reader, ContextRequest(**request)), blocks)


def reasons(context: AssembledContext) -> dict[str, str]:
    return {
        part.name: part.reason
        for part in context.sources
        if part.kind == "rule" and not part.name.startswith("../../")
    }


def test_rules_blocks_task_and_prompt_in_this_order(tmp_path: Path) -> None:
    files = {"proj/AGENTS.md": "\n\nRULE\n\n", "proj/.agents/tasks/t.md": "TASK\n"}
    reader = make_reader(tmp_path, files)
    context = assemble(reader, [("N", "BLOCK")], task="t", prompt="P ${x}\n", parameters={"x": "1"})
    assert context.text == "RULE\n\nBLOCK\n\nTASK\n\nP 1\n"
    assert [part.kind for part in context.sources] == ["rule", "command", "task", "prompt"]


def test_a_prompt_alone_is_the_whole_text(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {})
    assert assemble(reader, prompt="P").text == "P"


def test_cubs_own_section_is_taken_once(tmp_path: Path) -> None:
    files = {f"proj/{name}": f"{name}\n\n{SECTION}" for name in ("AGENTS.md", "CLAUDE.md")}
    reader = make_reader(tmp_path, {**files, "proj/GEMINI.md": SECTION})
    context = assemble(reader, prompt="P")
    assert context.text.count("CUB\n") == 1
    assert context.text.index("CLAUDE.md") < context.text.index("CUB\n")
    assert reasons(context)["GEMINI.md"] == "other sources have all of it"


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("A\n\nB\n\n{}", "A\n\nB\n\n{}", "A\n\nB\n\n{}"),
        ("A\n\nB\n", "A\n\nB\n\n{}", "A\n\nB\n\n{}"),
        ("A\n\nB\n\n{}", "A\n\nB\n\nMORE\n", "A\n\nB\n\n{}\n\nMORE"),
        ("A\n\nB\n\nMORE\n", "{}\n\nA\n\nB", "A\n\nB\n\nMORE\n\n{}"),
        ("A is B\n", "A\n", "A is B\n\nA"),
    ],
)
def test_a_text_in_two_instruction_files_is_taken_once(
    tmp_path: Path, first: str, second: str, text: str
) -> None:
    files = {"CLAUDE.md": first, "AGENTS.md": second}
    section = SECTION.rstrip("\n")
    reader = make_reader(
        tmp_path, {f"proj/{n}": t.replace("{}", section) for n, t in files.items()}
    )
    assert assemble(reader, prompt="P").text == text.replace("{}", section) + "\n\nP"


def test_a_short_section_of_cubs_does_not_replace_the_shared_one(tmp_path: Path) -> None:
    short = SECTION.replace("`cub task ready`", "plan mode")
    files = {"proj/CLAUDE.md": f"{short}\n@AGENTS.md\n", "proj/AGENTS.md": SECTION}
    text = assemble(make_reader(tmp_path, files), prompt="P").text
    assert (text.count("plan mode"), text.count("`cub task ready`")) == (1, 1)


def test_an_import_that_is_a_rule_is_taken_once(tmp_path: Path) -> None:
    files = {
        "proj/CLAUDE.md": "C\n@AGENTS.md\n",
        "proj/AGENTS.md": "A\n@docs/x.md",
        "proj/docs/x.md": "---\na: 1\n---\nX\n@y.md and @AGENTS.md",
        "proj/docs/y.md": "Y",
        "proj/GEMINI.md": "@AGENTS.md\n\nG see @docs/x.md",
    }
    context = assemble(make_reader(tmp_path, files), prompt="P")
    assert context.text == "C\nA\nX\nY and AGENTS.md\n\nG see docs/x.md\n\nP"
    assert reasons(context)["AGENTS.md"] == "CLAUDE.md imports it"


def test_a_task_file_that_imports_itself_is_taken_once(tmp_path: Path) -> None:
    files = {"proj/.agents/tasks/t.md": "T\n@a.md", "proj/.agents/tasks/a.md": "A and @t.md"}
    assert assemble(make_reader(tmp_path, files), task="t").text == "T\nA and t.md\n\n"


def test_a_copy_of_a_text_is_taken_once(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A\n", "proj/GEMINI.md": "A"})
    context = assemble(reader, prompt="P")
    assert context.text == "A\n\nP"
    assert reasons(context)["GEMINI.md"] == "AGENTS.md has the same text"


def test_imports_end_after_five_in_a_row(tmp_path: Path) -> None:
    files = {f"proj/{n}.md": f"{n}\n@{n + 1}.md" for n in range(9)}
    context = assemble(make_reader(tmp_path, {**files, "proj/AGENTS.md": "@0.md"}), prompt="P")
    assert context.text == "0\n1\n2\n3\n4\n@5.md\n\nP"
    (warning,) = context.warnings
    assert (warning.path, warning.message) == (
        "4.md",
        "@5.md: too many imports in a row; it is not imported",
    )


def test_an_import_of_no_file_is_named_by_its_line(tmp_path: Path) -> None:
    text = "---\nname: x\n---\n@docs/gone.md and @types/node\n`@x.md` @a/*.md\n@there.md"
    there = "T\n@./gone and @someone"
    context = assemble(make_reader(tmp_path, {"proj/AGENTS.md": text, "proj/there.md": there}))
    assert [(one.location, one.message) for one in context.warnings] == [
        ("there.md:2", "@./gone: the file does not exist; it is not imported"),
        ("AGENTS.md:4", "@docs/gone.md: the file does not exist; it is not imported"),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/id.md",
        "../../home/.ssh/id.md",
        "~/.claude/auth.json",
        ".git/config",
        "link.md",
        "~/.claude/projects/x/memory.md",
    ],
)
def test_no_import_leads_out_of_the_project(tmp_path: Path, path: str) -> None:
    paths = ("home/.ssh/id.md", "home/.claude/auth.json", "proj/.git/config",
             "home/.claude/projects/x/memory.md")  # fmt: skip
    secrets = dict.fromkeys(paths, "SECRET")
    reader = make_reader(tmp_path, {**secrets, "proj/AGENTS.md": f"@{path}"})
    (reader.root / "link.md").symlink_to(tmp_path / "home/.ssh/id.md")
    context = assemble(reader, prompt="P")
    assert context.text == f"@{path}\n\nP"
    (warning,) = context.warnings
    assert warning.message.startswith(f"@{path}: this leads out of the project")


def test_the_users_own_markdown_can_be_imported(tmp_path: Path) -> None:
    files = {"proj/AGENTS.md": "@~/.claude/mine.md", "home/.claude/mine.md": "MINE\n@more.md",
             "home/.claude/more.md": "MORE"}  # fmt: skip
    assert assemble(make_reader(tmp_path, files), prompt="P").text == "MINE\nMORE\n\nP"


SECRET = "sk-proj-abcdefghijklmnop1234567890ABCDEFGHIJ"


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"proj/AGENTS.md": "A\n@.env\n", "proj/.env": f"OPENAI_API_KEY={SECRET}\n"}, ".env"),
        ({"proj/AGENTS.md": f"The key is {SECRET}."}, "AGENTS.md"),
        ({"proj/.agents/tasks/t.md": "T ${key}"}, ".agents/tasks/t.md"),
        ({"proj/.agents/tasks/t.md": "T\n@more.md", "proj/.agents/tasks/more.md": SECRET},
         ".agents/tasks/more.md"),
    ],
)  # fmt: skip
def test_secrets_are_masked_with_one_warning(
    tmp_path: Path, files: dict[str, str], place: str
) -> None:
    reader = make_reader(tmp_path, files)
    task = "t" if "proj/.agents/tasks/t.md" in files else ""
    context = assemble(reader, task=task, prompt="P", parameters={"key": SECRET})
    assert SECRET[8:] not in context.text
    assert [part.text for part in context.sources if SECRET[8:] in part.text] == []
    warnings = [(warning.path, warning.message) for warning in context.warnings]
    assert warnings == [(place, "secrets in this text are masked")]


def test_a_prompt_is_masked(tmp_path: Path) -> None:
    context = assemble(make_reader(tmp_path, {}), prompt=f"key {SECRET}")
    assert SECRET[8:] not in context.text
    assert [warning.path for warning in context.warnings] == ["--prompt"]


def test_parameters_are_for_task_files_and_for_rules_that_ask(tmp_path: Path) -> None:
    files = {
        "proj/.agents/rules/a.md": "A ${x}",
        "proj/.agents/rules/b.md": "---\nexpand: true\n---\nB ${x}",
        "proj/.agents/rules/c.md": "---\nexpand: false\n---\nC ${x}\n@d.txt",
        "proj/.agents/rules/d.txt": "D",
        "proj/.agents/tasks/t.md": "T ${x}",
        "proj/.agents/tasks/off.md": "---\nexpand: false\n---\nT ${x}",
    }
    reader, values = make_reader(tmp_path, files), {"x": "1"}
    text = assemble(reader, task="t", parameters=values).text
    assert text == "A ${x}\n\nB 1\n\nC ${x}\n@d.txt\n\nT 1\n\n"
    assert assemble(reader, task="off", parameters=values).text.endswith("T ${x}\n\n")


def test_a_task_chooses_rules(tmp_path: Path) -> None:
    files = {
        "proj/.agents/rules/a.md": "---\nenv: prod\n---\nA",
        "proj/.agents/rules/b.md": "---\nenv: dev\n---\nB",
        "proj/.agents/rules/c.md": "C",
        "proj/.agents/rules/d.md": "---\ntask_name: other\n---\nD",
        "proj/.agents/rules/e.md": "---\ninclude_unmatched: false\ntask_name: t\n---\nE",
        "proj/.agents/rules/f.md": "---\ninclude_unmatched: false\n---\nF",
        "proj/.agents/tasks/t.md": "---\nselectors: {env: prod}\n---\nT",
    }
    only = "---\ninclude_unmatched: false\nselectors: {env: [dev]}\n---\nT"
    files["proj/.agents/tasks/only.md"] = only
    reader = make_reader(tmp_path, files)
    assert assemble(reader, task="t").text == "A\n\nC\n\nE\n\nT\n\n"
    assert assemble(reader, task="only").text == "B\n\nT\n\n"
    given = {"env": ("dev",)}
    assert assemble(reader, task="t", selectors=given).text == "B\n\nC\n\nE\n\nT\n\n"


def test_a_path_leaves_out_rules_for_other_files(tmp_path: Path) -> None:
    files = {
        "proj/.claude/rules/ts.md": "---\npaths: ['src/**/*.ts']\n---\nTS",
        "proj/.cursor/rules/py.mdc": "---\nglobs: *.py\nalwaysApply: false\n---\nPY",
        "home/.claude/rules/docs.md": "---\npaths: docs/**\n---\nDOCS",
        "proj/AGENTS.md": "ALL",
    }
    reader = make_reader(tmp_path, files)
    texts = {
        path: assemble(reader, prompt="P", path=str(reader.root / path)).text
        for path in ("src/a.ts", "x/y.py", "docs/x.md")
    }
    assert texts == {
        "src/a.ts": "TS\n\nALL\n\nP",
        "x/y.py": "PY\n\nALL\n\nP",
        "docs/x.md": "ALL\n\nDOCS\n\nP",
    }
    whole = assemble(reader, prompt="P").text
    assert whole == "PY\n\nTS\n\nALL\n\nDOCS\n\nP"


def test_cursors_rules_apply_as_their_front_matter_says(tmp_path: Path) -> None:
    rules = {
        "a": "alwaysApply: true\nglobs: *.ts",
        "b": "alwaysApply: false\ndescription: Use: x",
        "c": "globs: {src,lib}/**/*.py\nalwaysApply: false",
        "d": "stage: [1",
        "e": "globs: *.ts\nstage: [1",
    }
    files = {f"proj/.cursor/rules/{name}.mdc": f"---\n{text}\n---\n{name.upper()}"
             for name, text in rules.items()}  # fmt: skip
    reader = make_reader(tmp_path, files)
    path = str(reader.root / "src/x.py")
    assert assemble(reader, agent="cursor").text == "A\n\nC\n\nD\n\nE\n\n"
    assert assemble(reader, agent="cursor", path=path).text == "A\n\nC\n\n"
    context = assemble(reader, path=path)
    assert context.text == "A\n\nB\n\nC\n\n"
    places = sorted({f"{each.message} {each.path}" for each in context.warnings})
    assert ["d.mdc:3:1" in places[0], "e.mdc:4:1" in places[1]] == [True, True]


@pytest.mark.parametrize("agent", ["", "codex"])
def test_resuming_leaves_the_rules_out(tmp_path: Path, agent: str) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A", "proj/.agents/tasks/t.md": "T"})
    context = assemble(reader, task="t", resumes=True, agent=agent)
    assert (context.text, reasons(context)) == ("T\n\n", {})


@pytest.mark.parametrize(
    ("agent", "text"),
    [
        ("claude", "C\nA\n\nLOCAL\n\nRULE\n\nUSER\n\nP"),
        ("codex", "A\n\nP"),
        ("gemini", "G\n\nP"),
        ("cursor", "CURSOR\n\nA\n\nP"),
        ("windsurf", "A\n\nP"),
        ("aider", "P"),
    ],
)
def test_what_an_agent_reads_by_itself(tmp_path: Path, agent: str, text: str) -> None:
    files = {
        "proj/CLAUDE.md": "C\n@AGENTS.md",
        "proj/AGENTS.md": "A",
        "proj/GEMINI.md": "G",
        "proj/CLAUDE.local.md": "LOCAL",
        "proj/.claude/rules/r.md": "RULE",
        "proj/.cursor/rules/r.mdc": "CURSOR",
        "proj/.agents/rules/r.md": "NOBODY",
        "home/.claude/CLAUDE.md": "USER",
    }
    assert assemble(make_reader(tmp_path, files), agent=agent, prompt="P").text == text


def test_files_that_settings_name_are_read_by_the_agent(tmp_path: Path) -> None:
    files = {
        "proj/docs/c.md": "C",
        "proj/docs/d.md": "D",
        "proj/.aider.conf.yml": "read: docs/c.md",
        "proj/opencode.json": '{"instructions": ["docs/*.md"]}',
    }
    reader = make_reader(tmp_path, files)
    assert assemble(reader, agent="aider", prompt="P").text == "C\n\nP"
    assert assemble(reader, agent="opencode", prompt="P").text == "C\n\nD\n\nP"


def test_an_agent_that_cuts_its_file_gets_that_much(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "x" * 40_000})
    assert len(assemble(reader, agent="codex", prompt="P").text) == 32_768 + 3


def test_an_unknown_agent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CubError) as caught:
        assemble(make_reader(tmp_path, {}), agent="claud", prompt="P")
    assert (caught.value.message, caught.value.hint) == (
        "no agent 'claud'",
        "did you mean 'claude'?",
    )


def test_broken_front_matter_of_a_task_ends_it(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/t.md": "---\na: [1\n---\nT"})
    with pytest.raises(CubError) as caught:
        assemble(reader, task="t")
    assert caught.value.where.startswith(".agents/tasks/t.md:3")


def test_the_simple_estimate() -> None:
    assert estimate_simple_tokens("four words are here\n") == round(20 / 4 + 4 / 0.75)


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize("kind", ["files", "folder", "rules"])
def test_the_users_own_folders_may_be_links(tmp_path: Path, kind: str) -> None:
    store = tmp_path / "store"
    files = {
        "proj/AGENTS.md": "@~/.claude/jj.md",
        "store/CLAUDE.md": "C\n@jj.md\n@notes.txt",
        "store/jj.md": "JJ",
        "store/notes.txt": "NOTES\n@deep.md",
        "store/deep.md": "DEEP",
        "store/rules/r.md": "R",
    }
    reader = make_reader(tmp_path, files)
    home = tmp_path / "home/.claude"
    if kind == "folder":
        link(home, store)
    else:
        for name in ("CLAUDE.md", "jj.md", "notes.txt"):
            link(home / name, store / name)
        link(home / "rules", store / "rules") if kind == "rules" else link(
            home / "rules/r.md", store / "rules/r.md"
        )
    context = assemble(reader, prompt="P")
    assert context.warnings == []
    assert context.text == "JJ\n\nC\n\nNOTES\nDEEP\n\nR\n\nP"


def test_a_link_of_the_users_allows_nothing_else_of_its_store(tmp_path: Path) -> None:
    files = {"proj/AGENTS.md": "@../../store/key.md", "store/CLAUDE.md": "C", "store/key.md": "K"}
    reader = make_reader(tmp_path, files)
    link(tmp_path / "home/.claude/CLAUDE.md", tmp_path / "store/CLAUDE.md")
    assert "K" not in assemble(reader, prompt="P").text


def test_a_worktree_inside_the_checkout_takes_no_rules_of_it(tmp_path: Path) -> None:
    git = "up/proj/.git/worktrees/w1"
    files = {
        "AGENTS.md": "ABOVE",
        "up/proj/AGENTS.md": "OUTER",
        f"{git}/commondir": "../..\n",
        "up/proj/.claude/worktrees/w1/.git": f"gitdir: {tmp_path / git}\n",
        "up/proj/.claude/worktrees/w1/AGENTS.md": "INNER",
        "up/proj/module/.git": "gitdir: ../.git/modules/module\n",
        "up/proj/module/AGENTS.md": "MODULE",
    }
    write_files(tmp_path, files)
    roots = [(tmp_path / "up/proj" / name).resolve() for name in (".claude/worktrees/w1", "module")]
    contexts = [assemble(TextReader(root, root, None), prompt="P") for root in roots]
    texts = [context.text.partition("\n\nP")[0] for context in contexts]
    assert texts == ["INNER\n\nABOVE", "MODULE\n\nOUTER\n\nABOVE"]


def test_what_is_not_read_as_it_should_be_is_said(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A\n@gone.md\n@zero.txt\nB"})
    (reader.root / ".claude").mkdir()
    (reader.root / "CLAUDE.md").symlink_to("nowhere.md")
    (reader.root / "gone.md").symlink_to("nowhere.md")
    (reader.root / "zero.txt").write_bytes(b"\x7fELF\0")
    (reader.root / ".claude/rules").symlink_to("nowhere")
    (reader.root / "GEMINI.md").write_bytes("G\u00e9".encode("utf-16"))
    (reader.root / ".cursorrules").write_bytes(b"a\0b")
    os.mkfifo(reader.root / "CLAUDE.local.md")
    context = assemble(reader, prompt="P")
    assert context.text == "A\n@gone.md\n@zero.txt\nB\n\nG\u00e9\n\nP"
    assert {(warning.path, warning.message) for warning in context.warnings} == {
        (".cursorrules", "this file has zero bytes, as binary data has; it is left out"),
        (".claude/rules", "this link leads to nothing; it is left out"),
        ("CLAUDE.md", "this link leads to nothing; it is left out"),
        ("CLAUDE.local.md", "this is not a regular file; it is left out"),
        ("GEMINI.md", "this text is UTF-16, not UTF-8"),
        ("AGENTS.md", "@gone.md: this link leads to nothing; it is not imported"),
        (
            "AGENTS.md",
            "@zero.txt: this file has zero bytes, as binary data has; it is not imported",
        ),
    }


@pytest.mark.parametrize("agent", ["claude", "cursor"])
def test_a_broken_rule_of_the_agent_is_named(tmp_path: Path, agent: str) -> None:
    reader = make_reader(tmp_path, {"proj/AGENTS.md": "A"})
    rules = reader.root / f".{agent}/rules"
    rules.mkdir(parents=True)
    suffix = "mdc" if agent == "cursor" else "md"
    (rules / f"gone.{suffix}").symlink_to("nowhere")
    os.mkfifo(rules / f"pipe.{suffix}")
    context = assemble(reader, agent=agent)
    assert [(warning.path, warning.message) for warning in context.warnings] == [
        (f".{agent}/rules/gone.{suffix}", "this link leads to nothing; it is left out"),
        (f".{agent}/rules/pipe.{suffix}", "this is not a regular file; it is left out"),
    ]


def test_a_file_of_another_user_above_the_project_is_named(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"up/AGENTS.md": "UP", "proj/AGENTS.md": "A"})
    reader.warn_of_owner(tmp_path / "up/AGENTS.md", os.getuid())
    reader.warn_of_owner(tmp_path / "up/AGENTS.md", 0)
    assert reader.warnings == []
    reader.warn_of_owner(tmp_path / "up/AGENTS.md", 4_000_123)
    (warning,) = reader.warnings
    assert warning.path == "../AGENTS.md"
    assert warning.message.endswith("belongs to another user (UID 4000123)")


@pytest.mark.parametrize(
    ("selectors", "place", "hint"),
    [
        ({"langauges": ("go",)}, "-s langauges=go", "did you mean -s languages=go?"),
        ({"languages": ("pyton",)}, "-s languages=pyton", "did you mean -s languages=python?"),
        ({"languages": ("rust",), "team": ("x",)}, "", ""),
    ],
)
def test_a_selector_that_is_near_another_is_named(
    tmp_path: Path, selectors: Any, place: str, hint: str
) -> None:
    files = {"proj/.agents/rules/a.md": "---\nlanguages: [go, python]\n---\nA"}
    warnings = assemble(make_reader(tmp_path, files), selectors=selectors, prompt="P").warnings
    assert [(w.path, w.hint) for w in warnings] == ([(place, hint)] if hint else [])


def test_a_parameter_that_is_near_another_is_named(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"proj/.agents/tasks/t.md": "T ${issue}"})
    (warning,) = assemble(reader, task="t", parameters={"issu": "1"}).warnings
    assert warning.hint == "did you mean -p issue instead of -p issu?"
