from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.skill_invocation import find_invocation, write_instructions
from cub.agent.skills import MAX_DESCRIPTION_TOKENS, Skill, SkillSet, load_skills
from cub.agent.tools.toolset import RULE_NAMES
from cub.edit.plan import PlanWarning
from cub.errors import CubError, UsageError
from cub.project.config_layers import ConfigValue
from cub.tokens import estimate_tokens
from tests.context.places import make_reader

TEXT = "Do it well.\n"
UNSET = ConfigValue("code.skill_dirs", [])


def write_skill(description: str = "Reviews.", **fields: str) -> str:
    fields = {"description": description, **fields}
    front = "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in fields.items())
    return f"---\n{front}---\n\n{TEXT}"


def load(
    tmp_path: Path, files: dict[str, str], *folders: Path, start: str = ""
) -> tuple[SkillSet, list[PlanWarning]]:
    reader = make_reader(tmp_path, files, start)
    names = [path.as_posix() for path in folders]
    setting = ConfigValue("code.skill_dirs", names, "user", "config.yaml:3")
    return load_skills(reader, setting, RULE_NAMES), reader.warnings


def load_one(tmp_path: Path, text: str, folder: str = "review") -> tuple[Skill, list[str]]:
    """Return the skill of a file, and the warnings with their places."""
    loaded, warnings = load(tmp_path, {f"proj/.claude/skills/{folder}/SKILL.md": text})
    (skill,) = loaded.skills.values()
    return skill, [f"{warning.location}: {warning.message}" for warning in warnings]


def test_later_folders_win_on_a_name(tmp_path: Path) -> None:
    places = [
        "home/.agents/skills",
        "home/.claude/skills",
        "proj/.claude/skills",
        "proj/.agents/skills",
        "proj/api/.claude/skills",
        "elsewhere",
    ]
    files = {f"{place}/of-{number}/SKILL.md": write_skill(f"Only {number}.")
             for number, place in enumerate(places)}  # fmt: skip
    shared = {f"{place}/shared/SKILL.md": write_skill(place) for place in places}
    for last in range(1, len(places) + 1):
        folder = tmp_path / str(last)
        extra = [folder / "elsewhere"] * (last == len(places))
        some = {k: v for k, v in shared.items() if k.rpartition("/shared")[0] in places[:last]}
        loaded, warnings = load(folder, {**files, **some}, *extra, start="api")
        assert loaded.skills["shared"].description == places[last - 1]
        assert {f"of-{n}" for n in range(5)} <= set(loaded.skills)
        assert next(iter(loaded.for_model)).name in {"shared", "of-4", "of-5"}
        assert warnings == []


def test_all_fields(tmp_path: Path) -> None:
    text = write_skill(
        "Reviews a change.",
        name="Code_Review",
        disable_model_invocation="true",
        user_invocable="false",
        allowed_tools="[Read, 'Bash(git diff *)']",
        context="fork",
        agent="Explore",
        license="MIT",
        metadata="{version: 1}",
    )
    skill, warnings = load_one(tmp_path, text)
    assert skill == Skill(
        "Code_Review",
        "Reviews a change.",
        "Do it well.",
        Path(os.path.realpath(tmp_path)) / "up/proj/.claude/skills/review",
        is_for_model=False,
        is_for_user=False,
        tools=("Read", "Bash(git diff *)"),
        is_fork=True,
        agent="Explore",
    )
    assert warnings == []


@pytest.mark.parametrize("text", [TEXT, f"---\n---\n{TEXT}", f"---\nother: 1\n---\n{TEXT}"])
def test_defaults(tmp_path: Path, text: str) -> None:
    skill, warnings = load_one(tmp_path, text)
    folder = Path(os.path.realpath(tmp_path)) / "up/proj/.claude/skills/review"
    assert skill == Skill("review", "Skill: review", "Do it well.", folder)
    assert (skill.is_for_model, skill.is_for_user, skill.tools) == (True, True, None)
    assert (skill.is_fork, skill.agent) == (False, "general-purpose")
    assert warnings == []


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("name", "\n  - a", "name is not a string"),
        ("description", "5", "description is not a string"),
        ("disable-model-invocation", "maybe", "disable-model-invocation is not true or false"),
        ("user-invocable", "[true]", "user-invocable is not true or false"),
        ("allowed-tools", "[1, 2]", "allowed-tools is not a list of tools"),
        ("allowed-tools", "{Read: true}", "allowed-tools is not a list of tools"),
        ("context", "thread", "context is not inline or fork"),
        ("context", "[fork]", "context is not inline or fork"),
        ("agent", "5", "agent is not a string"),
    ],
)
def test_a_wrong_value_is_a_warning_with_its_line(
    tmp_path: Path, field: str, value: str, expected: str
) -> None:
    text = f"---\n# ours\nlicense: MIT\n{field}: {value}\n---\n{TEXT}"
    skill, warnings = load_one(tmp_path, text)
    assert warnings == [f".claude/skills/review/SKILL.md:4: {expected}; it is ignored"]
    assert skill == Skill("review", "Skill: review", "Do it well.", skill.folder)


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Read, Grep", ("Read", "Grep")),
        ("Read Grep", ("Read", "Grep")),
        ("Bash(git add *), Bash(jq:*) Read", ("Bash(git add *)", "Bash(jq:*)", "Read")),
        ("[Read, Grep]", ("Read", "Grep")),
        ("\n  - Read\n  - Bash(npm run *)", ("Read", "Bash(npm run *)")),
        ("[]", ()),
        ("Read, TodoWrite", ("Read", "TodoWrite")),
        ("", None),
        ("'*'", None),
        ("mcp__files__list Task", ("mcp__files__list", "Task")),
    ],
)  # fmt: skip
def test_tools_are_a_list_or_a_text(
    tmp_path: Path, value: str, tools: tuple[str, ...] | None
) -> None:
    skill, warnings = load_one(tmp_path, f"---\nallowed-tools: {value}\n---\n{TEXT}")
    assert (skill.tools, warnings) == (tools, [])


def test_a_misspelled_tool_is_a_warning(tmp_path: Path) -> None:
    text = f"---\nallowed-tools:\n  - Read\n  - Bsah(git diff *)\n---\n{TEXT}"
    _, (warning,) = load_one(tmp_path, text)
    assert warning == ".claude/skills/review/SKILL.md:2: allowed-tools has unknown tools: Bsah"


def test_shapes_of_files_that_people_have(tmp_path: Path) -> None:
    cases = {
        "crlf": "---\r\nname: crlf\r\ndescription: With CRLF.\r\n---\r\n\r\nOne.\r\nTwo.\r\n",
        "bom": "\ufeff---\nname: bom\ndescription: With a mark.\n---\nOne.\nTwo.",
        "folded": "---\ndescription: >-\n  Folded:\n  over lines.\n---\nOne.\nTwo.\n",
        "literal": "---\ndescription: |\n  First: a\n\n  second.\n---\nOne.\nTwo.\n",
        "colon": "---\ndescription: Use when: it is\n  broken: or not\n---\nOne.\nTwo.\n",
        "quotes": '---\ndescription: "Say \\"x\\": now"\n---\nOne.\nTwo.\n',
        "apostrophe": "---\ndescription: It's the user's: really\n---\nOne.\nTwo.\n",
        "hint": "---\nargument-hint: [file] [format]\ndescription: Hinted.\n---\nOne.\nTwo.\n",
        "hooks": "---\ndescription: Hooked.\nhooks:\n  Stop: [{matcher: '*'}]\n---\nOne.\nTwo.\n",
    }  # fmt: skip
    descriptions = {
        "crlf": "With CRLF.",
        "bom": "With a mark.",
        "folded": "Folded: over lines.",
        "literal": "First: a second.",
        "colon": "Use when: it is broken: or not",
        "quotes": 'Say "x": now',
        "apostrophe": "It's the user's: really",
        "hint": "Hinted.",
        "hooks": "Hooked.",
    }
    files = {f"home/.claude/skills/{name}/SKILL.md": text for name, text in cases.items()}
    loaded, warnings = load(tmp_path, files)
    assert {name: skill.description for name, skill in loaded.skills.items()} == descriptions
    assert {skill.instructions for skill in loaded.skills.values()} == {"One.\nTwo."}
    assert warnings == []


def test_fields_around_a_broken_line_still_count(tmp_path: Path) -> None:
    """Or else a broken hint would give a skill all tools, and show a hidden one."""
    text = """\
---
name: release
argument-hint: [version] [channel]
disable-model-invocation: true
context: {fork
allowed-tools:
  - Read
  - Bash(git log --format="%h: %s")
---
Go.
"""
    skill, warnings = load_one(tmp_path, text)
    assert (skill.name, skill.is_for_model) == ("release", False)
    assert skill.tools == ("Read", 'Bash(git log --format="%h: %s")')
    assert warnings == [
        ".claude/skills/review/SKILL.md:5: context is not inline or fork; it is ignored"
    ]


@pytest.mark.parametrize(
    ("name", "folder", "expected"),
    [
        ("PDF Processing", "pdf", "PDF-Processing"),
        ("../../etc", "up", "etc"),
        ("/deploy", "d", "deploy"),
        ("plugin:review", "r", "plugin:review"),
        ("'123'", "n", "123"),
        ("prüfen", "p", "prüfen"),
        ('"🚀"', "my folder", "my-folder"),
        ("x" * 100, "long", "x" * 64),
    ],
)
def test_a_name_is_one_that_can_be_typed(
    tmp_path: Path, name: str, folder: str, expected: str
) -> None:
    skill, warnings = load_one(tmp_path, f"---\nname: {name}\n---\n{TEXT}", folder)
    assert (skill.name, warnings) == (expected, [])
    invocation = find_invocation(SkillSet({expected: skill}), f"/{expected} now")
    assert invocation is not None
    assert invocation.skill == skill


def test_what_is_no_skill_is_left_out_with_a_warning(tmp_path: Path) -> None:
    files = {
        "proj/.claude/skills/empty/SKILL.md": "---\nname: empty\n---\n\n",
        "proj/.claude/skills/🚀/SKILL.md": TEXT,
        "proj/.claude/skills/big/SKILL.md": "x" * 1_000_001,
        "proj/.claude/skills/folder/SKILL.md/x": "",
        "proj/.claude/skills/binary/SKILL.md": "a\0b",
        "proj/.claude/skills/README.md": "Not one, and no reason to complain.",
        "proj/.claude/skills/lower/skill.md": TEXT,
        "proj/.claude/skills/.hidden/SKILL.md": TEXT,
        "proj/.claude/skills/good/SKILL.md": TEXT,
    }
    loaded, warnings = load(tmp_path, files)
    assert list(loaded.skills) == ["good"]
    places = {warning.path.removeprefix(".claude/skills/") for warning in warnings}
    assert places == {f"{name}/SKILL.md" for name in ("empty", "🚀", "big", "folder", "binary")}


_LATIN = "this text is not UTF-8; wrong bytes become U+FFFD"
_UNENDED = "the front matter has no last line `---`; its fields are ignored"


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        ("---\nname: x\n---\ncafé\n", "latin-1", _LATIN),
        ("---\nname: x\n---\ncafé\n", "utf-16", "this text is UTF-16, not UTF-8"),
        ("---\nname: x\n\nText.\n", "utf-8", _UNENDED),
        ("---\nText.\n", "utf-8", ""),
        ("---\nname: x\n--- \nText.\n---\n", "utf-8", ""),
    ],
)  # fmt: skip
def test_what_is_odd_is_read_with_a_warning(
    tmp_path: Path, text: str, encoding: str, expected: str
) -> None:
    reader = make_reader(tmp_path, {"proj/.claude/skills/x/SKILL.md": ""})
    (reader.root / ".claude/skills/x/SKILL.md").write_bytes(text.encode(encoding))
    assert list(load_skills(reader, UNSET, RULE_NAMES).skills) == ["x"]
    assert [warning.message for warning in reader.warnings] == [expected] * bool(expected)


def test_skills_may_be_in_groups_but_not_in_each_other(tmp_path: Path) -> None:
    files = {
        "proj/.claude/skills/web/forms/SKILL.md": TEXT,
        "proj/.claude/skills/web/forms/examples/SKILL.md": TEXT,
        "proj/.claude/skills/pdf/SKILL.md": TEXT,
        "proj/.claude/skills/pdf/nested/SKILL.md": TEXT,
        "proj/.claude/skills/a/b/c/SKILL.md": TEXT,
        "home/team/one/SKILL.md": TEXT,
    }
    single = tmp_path / "home/team/one"  # is a skill itself
    loaded, _ = load(tmp_path, files, single)
    assert sorted(loaded.skills) == ["forms", "one", "pdf"]


def test_the_same_name_twice_in_a_folder_is_a_warning(tmp_path: Path) -> None:
    files = {f"proj/.claude/skills/{n}/SKILL.md": write_skill(n, name="same") for n in "ab"}
    loaded, warnings = load(tmp_path, files)
    assert loaded.skills["same"].description == "b"
    (warning,) = warnings
    assert warning.path == ".claude/skills/b/SKILL.md"
    assert ".claude/skills/a/SKILL.md" in warning.message


def test_a_skill_with_two_names_of_its_folder_is_one(tmp_path: Path) -> None:
    files = {"proj/.claude/skills/b/SKILL.md": write_skill(name="same")}
    reader = make_reader(tmp_path, files)
    (reader.root / ".claude/skills/a").symlink_to("b")
    assert list(load_skills(reader, UNSET, RULE_NAMES).skills) == ["same"]
    assert reader.warnings == []


def test_links_of_a_project_stay_in_it(tmp_path: Path) -> None:
    files = {
        "proj/.agents/skills/ours/SKILL.md": TEXT,
        "home/.agents/skills/mine/SKILL.md": TEXT,
        "home/private/SKILL.md": "secret\n",
        "home/private/file": "",
    }
    reader = make_reader(tmp_path, files)
    own, users = reader.root / ".claude/skills", tmp_path / "home/.claude/skills"
    own.mkdir(parents=True)
    users.mkdir(parents=True)
    (own / "linked").symlink_to("../../.agents/skills/ours")
    (own / "out").symlink_to(tmp_path / "home/private")
    (own / "lost").symlink_to(tmp_path / "nothing")
    (own / "loop").symlink_to("loop")
    (own / "single").mkdir()
    (own / "single/SKILL.md").symlink_to(tmp_path / "home/private/SKILL.md")
    (users / "mine").symlink_to(tmp_path / "home/.agents/skills/mine")
    loaded, warnings = load_skills(reader, UNSET, RULE_NAMES), reader.warnings
    assert sorted(loaded.skills) == ["linked", "mine", "ours"]
    assert loaded.skills["linked"].folder == reader.root / ".agents/skills/ours"
    places = {warning.path.removeprefix(".claude/skills/") for warning in warnings}
    assert {"out", "single/SKILL.md"} <= places <= {"out", "single/SKILL.md", "lost", "loop"}


def test_a_home_folder_that_is_the_project_keeps_its_links(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"shared/x/SKILL.md": TEXT, "proj/.claude/skills/y": ""})
    reader.home = reader.root
    (reader.root / ".claude/skills/x").symlink_to(tmp_path / "shared/x")
    assert list(load_skills(reader, UNSET, RULE_NAMES).skills) == ["x"]


def test_a_configured_folder_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    _, warnings = load(tmp_path, {}, tmp_path / "none")
    assert [(w.path, "no such directory" in w.message) for w in warnings] == [
        ("config.yaml:3", True)
    ]


def test_descriptions_are_short_and_fit_a_budget(tmp_path: Path) -> None:
    words = "reviews each change of the parser with care and says what is wrong, " * 5
    files = {f"home/.claude/skills/many-{n:03}/SKILL.md": write_skill(words) for n in range(200)}
    files["proj/.claude/skills/ours/SKILL.md"] = write_skill("Ours.")
    files["proj/.claude/skills/hidden/SKILL.md"] = write_skill(disable_model_invocation="true")
    loaded, warnings = load(tmp_path, files)
    first, *lines, last = loaded.describe_for_model().splitlines()
    assert first == "- ours: Ours."
    assert all(len(line) == len("- many-000: ") + 200 for line in lines)
    assert estimate_tokens("\n".join([first, *lines])) <= MAX_DESCRIPTION_TOKENS
    assert last.startswith(f"- {200 - len(lines)} more, without room for descriptions: many-")
    (warning,) = warnings
    assert f"descriptions of {200 - len(lines)} skills don't fit" in warning.message


def test_without_skills_there_is_nothing_to_describe(tmp_path: Path) -> None:
    hidden = {"proj/.claude/skills/a/SKILL.md": write_skill(disable_model_invocation="true")}
    loaded, _ = load(tmp_path, hidden)
    assert loaded.describe_for_model() == ""
    assert [skill.name for skill in loaded.for_user] == ["a"]


def make_skill(folder: Path, instructions: str, name: str = "fix") -> Skill:
    return Skill(name, "", instructions, folder)


@pytest.mark.parametrize(
    ("instructions", "arguments", "expected"),
    [
        ("Fix $ARGUMENTS now.", "the useEffect hook", "Fix the useEffect hook now."),
        ("$0 then $1", "fix the hook", "fix then the"),
        ("$0 then $1", "'a b' \"c d\"", "a b then c d"),
        ("$ARGUMENTS[1] of $ARGUMENTS[0]", "a b", "b of a"),
        ("Fix it.", "in a.py", "Fix it.\n\nArguments: in a.py"),
        ("Fix it.", "", "Fix it."),
        ("Fix $ARGUMENTS.", "", "Fix ."),
        ("Fix $0 in $1", "", "Fix $0 in $1"),
        ("Fix $0 in $1", "x", "Fix x in $1"),
        ("awk '{print $1}'", "a b", "awk '{print b}'\n\nArguments: a b"),
        ("awk '{print $2}'", "a b", "awk '{print $2}'\n\nArguments: a b"),
        ("$0 costs $10, $5.00 or \\$1 and $$1", "a b", "a costs $10, $5.00 or \\$1 and $$1"),
        ("$ARGUMENTS", "$0 \\1 $ARGUMENTS", "$0 \\1 $ARGUMENTS"),
        ("$0|$ARGUMENTS", "it's John's", "its Johns|it's John's"),
        ("$0|$ARGUMENTS", "it's mine", "it's|it's mine"),
        ("$ARGUMENTSX", "a", "$ARGUMENTSX\n\nArguments: a"),
        ("See ${CLAUDE_SKILL_DIR}/x", "", "See {folder}/x"),
    ],
)
def test_arguments(tmp_path: Path, instructions: str, arguments: str, expected: str) -> None:
    text = write_instructions(make_skill(tmp_path, instructions), arguments)
    assert text == expected.replace("{folder}", tmp_path.as_posix())


@given(st.text(), st.text())
def test_no_argument_is_lost(instructions: str, arguments: str) -> None:
    text = write_instructions(make_skill(Path("/nothing"), instructions), arguments.strip())
    assert arguments.strip() in text


def test_the_folder_is_named_if_there_is_more_in_it(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(TEXT, encoding="utf-8")
    skill = make_skill(tmp_path, "Fix it.")
    assert write_instructions(skill) == "Fix it."
    (tmp_path / "scripts").mkdir()
    assert write_instructions(skill, "now") == (
        f"Fix it.\n\nThe files of this skill are in {tmp_path.as_posix()}.\n\nArguments: now"
    )


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "/",
        "//",
        "// a comment",
        "/* a comment */",
        "/etc/hosts is wrong, why?",
        "/usr/bin",
        f"/{min(Path('/').iterdir()).name} is full",
        "/etc, /usr: compare them",
        "/etc: what is it?",
        " /fix it",
        "fix /fix",
        "/-x",
        "./fix",
    ],
)
def test_what_is_no_command(tmp_path: Path, prompt: str) -> None:
    assert find_invocation(SkillSet({"fix": make_skill(tmp_path, "")}), prompt) is None


def test_a_skill_is_called_for_by_name(tmp_path: Path) -> None:
    skills = SkillSet({name: make_skill(tmp_path, "$ARGUMENTS", name) for name in ("fix", "etc")})

    def find(prompt: str) -> tuple[str, str]:
        invocation = find_invocation(skills, prompt)
        assert invocation
        return invocation.skill.name, invocation.text

    assert find("/fix") == ("fix", "")
    assert find("/fix  a  b \n") == ("fix", "a  b")
    assert find("/fix\nfirst\nsecond") == ("fix", "first\nsecond")
    assert find("/FIX it") == ("fix", "it")
    assert find("/etc it") == ("etc", "it")  # although there is such a folder


def test_an_unknown_command_has_near_misses(tmp_path: Path) -> None:
    skills = SkillSet({name: make_skill(tmp_path, "", name) for name in ("review", "deploy")})
    hidden = replace(make_skill(tmp_path, "", "hidden"), is_for_user=False)
    skills.skills["hidden"] = hidden
    with pytest.raises(UsageError, match="unknown command /reveiw") as caught:
        find_invocation(skills, "/reveiw this", ["clear"])
    assert caught.value.hint.startswith("did you mean /review? If not, put a space")
    with pytest.raises(UsageError) as caught:
        find_invocation(skills, "/claer", ["clear"])
    assert caught.value.hint.startswith("did you mean /clear?")
    with pytest.raises(UsageError) as caught:
        find_invocation(skills, "/zzz")
    assert caught.value.hint.startswith("put a space")
    with pytest.raises(UsageError, match="/hidden is not for users"):
        find_invocation(skills, "/hidden")


def test_directories_of_both_settings_are_read_in_their_order(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    files = {
        "shared/a/SKILL.md": "shared",
        "home/mine/a/SKILL.md": "mine",
        "home/mine/b/SKILL.md": "mine",
        "proj/api/near/c/SKILL.md": "near",
        "proj/api/near/b/SKILL.md": "near",
        "proj/team/c/SKILL.md": "team",
        "home/.claude/settings.json": json.dumps({
            "skillDirs": [str(shared), "~/mine", "near", "C:\\company\\prompts"]
        }),
    }  # fmt: skip
    reader = make_reader(tmp_path, files, "api")
    setting = ConfigValue("code.skill_dirs", ["team"], "user", "~/config.yaml:2", ("c.yaml:3",))
    skills = load_skills(reader, setting, RULE_NAMES).skills
    assert {name: skill.instructions for name, skill in skills.items()} == {
        "a": "mine", "b": "near", "c": "team",
    }  # fmt: skip
    (warning,) = reader.warnings
    assert warning.location == "~/.claude/settings.json:1"
    assert "no such directory" in warning.message


@pytest.mark.parametrize("value", ['"one"', "[1]", "{}"])
def test_a_wrong_value_in_the_settings_is_a_warning(tmp_path: Path, value: str) -> None:
    text = f'{{\n  // ours\n  "skillDirs": {value}\n}}\n'
    reader = make_reader(tmp_path, {"home/.claude/settings.json": text})
    assert load_skills(reader, UNSET, RULE_NAMES).skills == {}
    (warning,) = reader.warnings
    assert warning.location == "~/.claude/settings.json:3"
    assert warning.message == "skillDirs is not a list of strings; it is ignored"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"env": {}}'])
def test_settings_without_directories_are_fine(tmp_path: Path, text: str) -> None:
    reader = make_reader(tmp_path, {"home/.claude/settings.json": text})
    assert load_skills(reader, UNSET, RULE_NAMES).skills == {}
    assert reader.warnings == []


def test_settings_that_are_not_json_are_an_error_with_its_place(tmp_path: Path) -> None:
    reader = make_reader(tmp_path, {"home/.claude/settings.json": '{\n"a"\n}'})
    with pytest.raises(CubError, match=r"~/\.claude/settings\.json:"):
        load_skills(reader, UNSET, RULE_NAMES)


@pytest.mark.parametrize("origin", ["project", "profile"])
def test_a_project_names_only_directories_in_it(tmp_path: Path, origin: str) -> None:
    files = {"proj/team/x/SKILL.md": "ours", "home/private/y/SKILL.md": "secret"}
    reader = make_reader(tmp_path, files)
    setting = ConfigValue("code.skill_dirs", ["team", "~/private"], origin, ".cub/config.yaml:2")  # type: ignore[arg-type]
    assert list(load_skills(reader, setting, RULE_NAMES).skills) == ["x"]
    (warning,) = reader.warnings
    assert "leads out of the project" in warning.message
    assert "config.yaml" in warning.hint
