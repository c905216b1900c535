from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.agent.permission_rules import parse_rule
from cub.agent.permissions import Decision, PermissionMode, Permissions
from cub.agent.tools.bash import BASH
from cub.agent.tools.open_target import OPEN
from cub.agent.tools.tool import Tool, ToolContext, ToolEffect, ToolOutput
from cub.agent.tools.toolset import TOOLS
from cub.agent.tools.web_fetch import WEB_FETCH
from cub.agent.tools.web_search import WEB_SEARCH
from cub.errors import CubError
from cub.processes.command import StopRequest

MODES: tuple[PermissionMode, ...] = ("ask", "accept-edits", "plan", "bypass")


def make_tool(name: str, effect: ToolEffect, subject: str, search: str = "") -> Tool:
    """A tool that is decided on and never run."""
    return Tool(name, "", {}, lambda _: lambda _: ToolOutput(""), effect, subject, search)


READ, GREP = make_tool("Read", "read", "file_path"), make_tool("Grep", "read", "pattern", "glob")
GLOB = make_tool("Glob", "read", "pattern", "pattern")
EDIT, WRITE = make_tool("Edit", "edit", "file_path"), make_tool("Write", "edit", "file_path")
CALLS: list[tuple[Tool, dict[str, str]]] = [
    (READ, {"file_path": "src/a.py"}),
    (GLOB, {"pattern": "**/*.py"}),
    (GREP, {"pattern": "x", "path": "src"}),
    (EDIT, {"file_path": "src/a.py"}),
    (WRITE, {"file_path": "src/new.py"}),
    (BASH, {"command": "ls"}),
    (BASH, {"command": "make"}),
    (WEB_FETCH, {"url": "https://docs.example.com/a"}),
    (WEB_SEARCH, {"query": "x"}),
    (OPEN, {"target": "a.html"}),
]


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ToolContext]:
    """A project with links, beside a home directory with keys."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("permissions")))
    root, home = base / "pro[j]ect", base / "home"
    for folder in (root / "src", root / ".git/hooks", root / ".cub", home / ".ssh", home / "docs"):
        folder.mkdir(parents=True)
    for file in (root / "src/a.py", home / ".ssh/id", home / "docs/a.md", root / ".git/config"):
        file.write_text("x")
    (root / "keys").symlink_to(home / ".ssh")
    (root / "alias").symlink_to("src")
    (root / "cert.pem").symlink_to("src/a.py")
    (home / "linked").symlink_to(home / "docs")
    stop = StopRequest()
    yield ToolContext(root, root, {"HOME": str(home)}, stop)
    stop.close()


def make_permissions(
    mode: PermissionMode = "ask", *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()
) -> Permissions:
    return Permissions(mode, [*map(parse_rule, allow)], [*map(parse_rule, deny)])


def decide_command(
    context: ToolContext, command: str, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()
) -> str:
    permissions = make_permissions(allow=allow, deny=deny)
    return permissions.decide(BASH, {"command": command}, context).answer


def decide_path(
    context: ToolContext, tool: Tool, path: str, mode: PermissionMode = "ask",
    **rules: tuple[str, ...],
) -> str:  # fmt: skip
    return make_permissions(mode, **rules).decide(tool, {"file_path": path}, context).answer


@pytest.mark.parametrize(
    ("mode", "answers"),
    [
        # Read, Glob, Grep, Edit, Write, Bash twice, WebFetch, WebSearch, Open
        ("ask", "allow allow allow ask ask allow ask ask ask ask"),
        ("accept-edits", "allow allow allow allow allow allow ask ask ask ask"),
        ("plan", "allow allow allow deny deny allow deny ask ask deny"),
        ("bypass", "allow allow allow allow allow allow allow allow allow allow"),
    ],
)
def test_a_mode_decides_inside_of_the_project(
    context: ToolContext, mode: PermissionMode, answers: str
) -> None:
    decided = [Permissions(mode).decide(tool, values, context).answer for tool, values in CALLS]
    assert decided == answers.split()


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "~/.ssh/id", "~", "../home/docs/a.md", "..", "src/../../home/.ssh/id",
        "keys/id", "keys/../x", "keys/new",
    ],
)  # fmt: skip
def test_everything_outside_of_the_project_asks(context: ToolContext, path: str) -> None:
    assert decide_path(context, READ, path) == "ask"
    assert decide_path(context, READ, path, "plan") == "ask"
    assert decide_path(context, EDIT, path, "accept-edits") == "ask"
    assert decide_path(context, WRITE, path, "accept-edits") == "ask"
    reason = make_permissions().decide(READ, {"file_path": path}, context).reason
    assert reason.endswith("is outside of the project")


@pytest.mark.parametrize("path", ["src/a.py", "alias/a.py", "./x/../src/a.py", "cert.pem", "new/b"])
def test_inside_is_what_the_real_path_says(context: ToolContext, path: str) -> None:
    assert decide_path(context, READ, path) == "allow"
    assert decide_path(context, READ, str(context.root / path)) == "allow"
    inner = replace(context, folder=context.root / "src")
    assert decide_path(inner, EDIT, "../src/a.py", "accept-edits") == "allow"


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".GIT/config", "vendor/lib/.git/config", ".cub/config.yaml"]
)
def test_edits_in_folders_of_git_and_cub_ask(context: ToolContext, path: str) -> None:
    assert decide_path(context, READ, path) == "allow"
    for allow in ((), ("Edit",), ("Edit(**)",), ("Write(*)",)):
        assert decide_path(context, WRITE, path, "accept-edits", allow=allow) == "ask"
    root = str(context.root).replace("[", "\\[")
    assert decide_path(context, WRITE, path, allow=(f"Edit({root}/**)",)) == "allow"


@pytest.mark.parametrize(
    ("tool", "values"),
    [
        (GLOB, {"pattern": "*", "path": "/etc"}),
        (GLOB, {"pattern": "../*"}),
        (GLOB, {"pattern": "src/*/../../../*"}),
        (GLOB, {"pattern": "/etc/*"}),
        (GLOB, {"pattern": "~/*"}),
        (GLOB, {"pattern": "{/etc,src}/*"}),
        (GLOB, {"pattern": "*", "path": "keys"}),
        (GREP, {"pattern": "x", "path": ".."}),
        (GREP, {"pattern": "x", "path": "~/.ssh/id"}),
        (GREP, {"pattern": "x", "glob": "../*.py"}),
    ],
)
def test_searches_outside_of_the_project_ask(
    context: ToolContext, tool: Tool, values: dict[str, str]
) -> None:
    assert Permissions().decide(tool, values, context).answer == "ask"


def test_searches_inside_of_the_project_are_allowed(context: ToolContext) -> None:
    for tool, values in (
        (GLOB, {"pattern": "*", "path": "."}),
        (GREP, {"pattern": "a..b|../c"}),
        (GREP, {"pattern": "/etc", "path": "src/a.py"}),
    ):
        assert Permissions().decide(tool, values, context) == Decision("allow")


def test_a_search_may_be_named_from_the_disk(context: ToolContext) -> None:
    home = Path(context.environ["HOME"])
    at_home = replace(context, root=home, folder=home / "docs")
    for pattern in (f"{home}/docs/*.md", "~/docs/*.md"):
        assert Permissions().decide(GLOB, {"pattern": pattern}, at_home) == Decision("allow")


def test_what_can_not_be_a_path_is_denied(context: ToolContext) -> None:
    for path in ("a\0b", "a\ud800"):
        assert decide_path(context, READ, path, "bypass") == "deny"


@pytest.mark.parametrize(
    ("rule", "path", "is_allowed"),
    [
        ("Read(~/.ssh/**)", "~/.ssh/id", True),
        ("Read(~/.ssh/**)", "keys/id", True),
        ("Read(~/.ssh)", "~/.ssh/id", True),
        ("Read(~/.ssh/**)", "~/.sshx/id", False),
        ("Read(~/linked/*.md)", "~/docs/a.md", True),
        ("Read(~/docs/*.md)", "~/docs/a.py", False),
        ("Read(/etc/**)", "/etc/passwd", True),
        ("Read(/**)", "/etc/passwd", True),
        ("Read", "/etc/passwd", False),
        ("Read(**)", "/etc/passwd", False),
        ("Read(passwd)", "/etc/passwd", False),
        ("Edit(/etc/**)", "/etc/passwd", False),
    ],
)
def test_a_rule_may_allow_paths_outside(
    context: ToolContext, rule: str, path: str, is_allowed: bool
) -> None:
    assert (decide_path(context, READ, path, allow=(rule,)) == "allow") is is_allowed


@pytest.mark.parametrize(
    ("rule", "path", "is_allowed"),
    [
        ("Edit(src/**)", "src/a.py", True),
        ("Edit(src/**)", "alias/a.py", True),
        ("Edit(alias/**)", "src/a.py", True),
        ("Edit(./src/)", "src/deep/a.py", True),
        ("Edit(src/*.py)", "src/a.txt", False),
        ("Edit(*.py)", "src/deep/a.py", True),
        ("Edit(src)", "other/src/a.py", True),
        ("Edit(src/deep)", "other/src/deep/a.py", False),
        ("Edit", "any", True),
        ("Write(src/**)", "src/a.py", False),
        ("Read(src/**)", "src/a.py", False),
        ("Edit(src/**)", "src/../b.py", False),
    ],
)
def test_a_rule_may_allow_edits(
    context: ToolContext, rule: str, path: str, is_allowed: bool
) -> None:
    assert (decide_path(context, EDIT, path, allow=(rule,)) == "allow") is is_allowed
    if rule.startswith("Edit"):
        assert (decide_path(context, WRITE, path, allow=(rule,)) == "allow") is is_allowed


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("Read(~/.ssh/**)", "~/.ssh/id"),
        ("Read(~/.ssh/**)", "keys/id"),
        ("Read(keys/**)", "keys/id"),
        ("Read(*.pem)", "cert.pem"),
        ("Read(src/**)", "cert.pem"),
        ("Read(.env)", "deep/.ENV"),
        ("Read(SRC/**)", "src/a.py"),
        ("Read(/src/**)", "src/a.py"),
        ("Read", "src/a.py"),
    ],
)
def test_a_rule_may_deny_paths(context: ToolContext, rule: str, path: str) -> None:
    assert decide_path(context, READ, path, "bypass", allow=("Read(/**)",), deny=(rule,)) == "deny"


def test_a_rule_that_denies_to_read_denies_to_search(context: ToolContext) -> None:
    permissions = make_permissions("bypass", deny=("Read(~/.ssh/**)",))
    for tool, values in (
        (GREP, {"pattern": "x", "path": "~/.ssh"}),
        (GREP, {"pattern": "x", "path": "keys/id"}),
        (GLOB, {"pattern": "*", "path": "keys"}),
        (GLOB, {"pattern": "~/.ssh/*"}),
    ):
        assert permissions.decide(tool, values, context).answer == "deny"
    assert permissions.decide(GREP, {"pattern": "x"}, context).answer == "allow"


@pytest.mark.parametrize(
    ("rule", "url", "is_about"),
    [
        ("WebFetch(domain:example.com)", "https://example.com/a", True),
        ("WebFetch(domain:Example.com)", "http://docs.EXAMPLE.com:80?x", True),
        ("WebFetch(domain:example.com)", "https://badexample.com/", False),
        ("WebFetch(domain:example.com)", "https://example.com.evil.org/", False),
        ("WebFetch(domain:example.com)", "https://example.com@evil.org/", False),
        ("WebFetch(domain:example.com)", "https://evil.org\\@example.com/", False),
        ("WebFetch(domain:example.com)", "ftp://example.com/", False),
        ("WebFetch(domain:example.com)", "", False),
        ("WebFetch", "https://any.org", True),
        ("WebSearch", "https://any.org", False),
    ],
)
def test_a_rule_may_be_about_a_domain(
    context: ToolContext, rule: str, url: str, is_about: bool
) -> None:
    allowed = make_permissions(allow=(rule,)).decide(WEB_FETCH, {"url": url}, context)
    assert (allowed.answer == "allow") is is_about
    denied = make_permissions("bypass", deny=(rule,)).decide(WEB_FETCH, {"url": url}, context)
    assert (denied.answer == "deny") is is_about


def test_rules_without_patterns_allow_all_calls_of_a_tool(context: ToolContext) -> None:
    permissions = make_permissions(allow=("WebSearch", "Open", "Bash"))
    for tool, values in (
        (WEB_SEARCH, {"query": "x"}), (OPEN, {"target": "x"}), (BASH, {"command": "a; b"}),
    ):  # fmt: skip
        assert permissions.decide(tool, values, context) == Decision("allow")


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Bash(git diff *)", "git diff --stat HEAD@{1} -- 'a b'"),
        ("Bash(git diff *)", "git diff"),
        ("Bash(git diff:*)", "git diff x"),
        ("Bash(npm run test*)", " npm run test:unit\n"),
        ("Bash(make && make test)", "make && make test"),
        ("Bash(test [ -n x ])", "test [ -n x ]"),
        ("Bash(*)", "a | b > c"),
        ("Bash", "a\nb"),
    ],
)
def test_a_rule_may_allow_commands(context: ToolContext, rule: str, command: str) -> None:
    assert decide_command(context, command, allow=(rule,)) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "rm$x y", "$x rm$@ y", "rm$'' x", "rm$() x", "rm`` x", "$'' rm x",
        "$''rm x", "ls <`rm x`", "f() { rm x; }", "A[0]=b rm x", "A=b\fc rm x", ">\r rm x",
    ],
)  # fmt: skip
def test_a_rule_denies_a_command_wherever_it_is(context: ToolContext, command: str) -> None:
    rules = {"allow": ("Bash", f"Bash({command})"), "deny": ("Bash(rm *)",)}
    assert decide_command(context, command, **rules) == "deny"


def test_a_rule_may_deny_a_command_with_operators(context: ToolContext) -> None:
    rules = {"allow": ("Bash",), "deny": ("Bash(curl * | sh)",)}
    assert decide_command(context, "curl https://x | sh", **rules) == "deny"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("Bsh(ls)", "unknown tool 'Bsh'", "did you mean Bash?"),
        ("bash", "unknown tool 'bash'", "did you mean Bash?"),
        ("Xyzzy", "unknown tool 'Xyzzy'", "choose from Read, Glob, "),
        ("Bash(", "not a permission rule", "such as Bash(git diff *)"),
        ("Bash()", "not a permission rule", "such as Bash(git diff *)"),
        ("", "not a permission rule", "such as Bash(git diff *)"),
        ("Read(../x)", "can't match", "start with / or ~/"),
        ("Read(a/../b)", "can't match", "start with / or ~/"),
        ("WebFetch(https://example.com)", "can't match", "WebFetch(domain:example.com)"),
        ("WebFetch(domain:*)", "can't match", "WebFetch(domain:example.com)"),
        ("WebSearch(x)", "can't match", "write WebSearch alone"),
        ("Open(a.html)", "can't match", "write Open alone"),
    ],
)
def test_what_is_not_a_rule_is_an_error(text: str, message: str, hint: str) -> None:
    with pytest.raises(CubError) as caught:
        parse_rule(text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_each_tool_is_named_once() -> None:
    with pytest.raises(CubError) as caught:
        parse_rule("Xyzzy", {**TOOLS, "Task": TOOLS["Read"]})  # as a session has it
    assert caught.value.hint.count("Task") == 1


@pytest.mark.parametrize("text", ["Bash(git diff *)", "Read(~/.ssh/**)", "WebSearch"])
def test_a_rule_is_shown_as_it_was_written(text: str) -> None:
    assert str(parse_rule(f" {text} ")) == text


def test_reasons_say_what_to_do_instead(context: ToolContext) -> None:
    denied = make_permissions(deny=("Bash(rm *)",)).decide(BASH, {"command": "rm x"}, context)
    assert denied.reason == "the rule Bash(rm *) denies it: do without it, or ask the user"
    planned = make_permissions("plan").decide(EDIT, {"file_path": "a"}, context)
    assert planned.reason == "the mode is plan: propose the change instead of making it"
    asked = make_permissions().decide(BASH, {"command": "make"}, context)
    assert asked.reason == "this command needs approval"


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
# Nothing in these makes an ordinary text of an operator.
plain_words = st.text(st.characters(codec="utf-8", exclude_characters="\0'\"\\#<$`"), max_size=12)
operators = st.sampled_from(
    [";", "&", "&&", "|", "||", "\n", "\r\n", "$(", "`", "<(", ">(", ">", "(", ")", "|&"]
)
rules = st.sampled_from(
    ["Bash(git *)", "Bash(git diff *)", "Bash(?it*)", "Bash(git [a-z]*)", "Bash(g*t)"]
)


# Pieces of what a shell reads, and of what it only seems to read.
pieces = st.lists(
    st.sampled_from(
        ["touch ran", "touch", "echo", "cat", "cp", "cd", "''", "A=b", "x", "-", "#",
         "~", "*", "[", "]", "=", "!", "if",
         "[[", "]]", "-eq", "'a[$(touch ran)]'", "${x@P}", "$((", "))", "x='a[$(touch ran)]'",
         "function", "f()", "select", "-v", "'E'", "$'", "head", "git", "time", "xargs", "<<<",
         "then", "fi", "for", "do", "done", "case", "in", "esac", "time", "coproc", ";", ";;", "&",
         "|", "&&", "||", "(", ")", "{", "}", "`", "$", "$(", "${", "<", ">", "<(", "<<E", "\nE\n",
         "'", '"', "\\", " ", "\t", "\n", "\r", "\v", "\f", "\x85", "\u2028"]
    ),
    max_size=6,
)  # fmt: skip


@given(plain_words, operators, plain_words, st.lists(rules, min_size=1))
def test_no_wildcard_lets_another_command_through(
    context: ToolContext, before: str, operator: str, after: str, allow: list[str]
) -> None:
    command = f"git diff {before}x{operator} touch x{after} x"
    assert decide_command(context, command, allow=tuple(allow)) == "ask"


@given(st.one_of(st.text(max_size=60), pieces.map(" ".join)))
def test_any_text_is_decided(context: ToolContext, text: str) -> None:
    for deny in ((), ("Bash(rm -rf *)", "Read(.env)")):
        decide_command(context, text, allow=("Bash(git *)",), deny=deny)


@given(
    st.sampled_from(MODES),
    st.sampled_from(["", "ls; ", "A=1 ", "true && ", "(", "$(", "x\n", "sudo ", "cat | ", "`"]),
    st.sampled_from(["", "; ls", " || x", ")", "\nls", " > log", " 2>&1", " &", "`"]),
    st.lists(st.sampled_from(["Bash", "Bash(rm *)", "Bash(*m*)"])),
)
def test_a_rule_that_denies_always_wins(
    context: ToolContext, mode: PermissionMode, before: str, after: str, allow: list[str]
) -> None:
    command = f"{before}rm -rf build{after}"
    permissions = make_permissions(mode, allow=(*allow, "Bash"), deny=("Bash(rm *)",))
    assert permissions.decide(BASH, {"command": command}, context).answer == "deny"


def has_run_touch(command: str) -> bool:
    """Whether a real shell runs `touch ran` as a part of a command."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["bash", "-c", command],
            check=False,
            cwd=folder,
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        return Path(folder, "ran").exists()


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@given(pieces, pieces)
def test_a_shell_runs_nothing_but_what_is_allowed(
    context: ToolContext, before: list[str], after: list[str]
) -> None:
    command = " ".join(["echo", *before, "touch ran", *after])
    allow = ("Bash(echo *)", "Bash(git *)")
    if (
        make_permissions("ask", allow=allow).decide(BASH, {"command": command}, context).answer
        == "allow"
    ):
        assert not has_run_touch(command)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@given(pieces, pieces, st.sampled_from(["", " "]))
def test_a_shell_runs_nothing_that_is_denied(
    context: ToolContext, before: list[str], after: list[str], space: str
) -> None:
    command = space.join([*before, "touch ran", *after])
    if decide_command(context, command, allow=("Bash",), deny=("Bash(touch *)",)) == "allow":
        assert not has_run_touch(command)


@given(
    st.sampled_from(CALLS),
    st.lists(st.sampled_from(["Bash", "Read(/**)", "Edit(/**)", "Write", "Open", "WebFetch"])),
)
def test_plan_allows_nothing_but_to_read(
    context: ToolContext, call: tuple[Tool, dict[str, str]], allow: list[str]
) -> None:
    tool, values = call
    answer = make_permissions("plan", allow=tuple(allow)).decide(tool, values, context).answer
    assert tool.effect in ("read", "web") or values == {"command": "ls"} or answer == "deny"


@given(words, st.sampled_from([READ, EDIT, WRITE]), st.sampled_from(MODES[:3]))
def test_what_is_allowed_without_rules_is_inside(
    context: ToolContext, path: str, tool: Tool, mode: PermissionMode
) -> None:
    if Permissions(mode).decide(tool, {"file_path": path}, context).answer == "allow":
        assert context.resolve_path(path).is_relative_to(context.root)


TREE = make_tool("Tree", "read", "folder")
ASK_SERVER = make_tool("mcp__tickets__ask", "unknown", "")


@pytest.mark.parametrize(
    ("tool", "values", "deny", "answer"),
    [
        (TREE, {"folder": "src"}, "Read(src/**)", "deny"),
        (TREE, {"folder": "src"}, "Read", "deny"),
        (TREE, {"folder": "src"}, "Read(docs/**)", "allow"),
        (TREE, {"folder": ".."}, "Read(docs/**)", "ask"),
        (ASK_SERVER, {"anything": "x"}, "mcp__tickets", "deny"),
        (ASK_SERVER, {"anything": "x"}, "mcp__tickets__ask", "deny"),
        (ASK_SERVER, {"anything": "x"}, "mcp__tick", "ask"),
    ],
)
def test_a_tool_that_no_table_names_is_ruled_by_its_effect(
    context: ToolContext, tool: Tool, values: dict[str, str], deny: str, answer: str
) -> None:
    permissions = make_permissions(deny=(deny,))
    assert permissions.decide(tool, values, context).answer == answer


def test_a_tool_from_outside_can_be_allowed_but_not_by_a_pattern(context: ToolContext) -> None:
    permissions = make_permissions(allow=("mcp__tickets",))
    assert permissions.decide(ASK_SERVER, {}, context).answer == "allow"
    with pytest.raises(CubError, match="can't match"):
        parse_rule("mcp__tickets(x)")
