from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.errors import CubError
from cub.project.executable_config import classify_executable_path, list_config_commands
from tests.examples import few_examples

FILES = {
    "bootstrap": [
        ".cub/bootstrap/x-bootstrap",
        ".agents/node-bootstrap",
        "pkg/.tools/bin/deep/-bootstrap",
    ],
    "hook": [
        ".cub/hooks/pre-tool",
        ".cub/hooks/deep/a.sh",
        ".claude/hooks/stop.sh",
        ".claude/hooks.json",
        ".cursor/hooks.json",
        ".codex/hooks/a",
        ".gemini/hooks/a",
        ".github/hooks/a.json",
        ".opencode/hooks/a",
        ".githooks/pre-commit",
        ".husky/pre-push",
        ".husky/_/husky.sh",
        ".pre-commit-config.yaml",
        "lefthook.yml",
        ".lefthook.yaml",
    ],
    "agent setting": [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".gemini/settings.json",
        ".codex/config.toml",
        ".aider.conf.yml",
        "opencode.json",
        "opencode.jsonc",
        ".mcp.json",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
        ".pi/settings.json",
        ".pi/mcp.json",
        ".pi/extensions/a.ts",
        ".pi/npm/node_modules/a.js",
        ".opencode/plugin/a.ts",
        ".opencode/plugins/a.ts",
    ],
    "agent file": [
        ".cub/agents/plan.md",
        ".agents/reviewer.md",
        ".agents/skills/bake/SKILL.md",
        ".claude/agents/a.md",
        ".claude/commands/b/c.md",
        ".claude/skills/bake/run.py",
        ".pi/skills/a/SKILL.md",
        ".pi/prompts/a.md",
        ".pi/SYSTEM.md",
        ".pi/APPEND_SYSTEM.md",
        ".opencode/agent/a.md",
        ".opencode/commands/a.md",
        ".cursor/commands/a.md",
        ".gemini/commands/a.toml",
        ".codex/prompts/a.md",
        ".github/agents/a.md",
        ".github/prompts/a.prompt.md",
        ".github/chatmodes/a.chatmode.md",
    ],
}
ALL = [(path, kind) for kind, paths in FILES.items() for path in paths]
TEXT = [
    "AGENTS.md",
    "CLAUDE.md",
    ".cub/config.yaml",
    ".cub/constitution.md",
    ".cub/runloop.md",
    ".cub/hooks",
    ".cub/hookshot/a",
    "cub/hooks/a",
    "x.cub/hooks/a",
    ".cubs/agents/a.md",
    ".agents",
    ".agents/rules/style.md",
    ".claude/settings.json.bak",
    ".claude/settings.jsonc",
    ".claude/agents.md",
    ".claude/skills",
    ".claude/CLAUDE.md",
    ".codex/config.toml.md",
    ".cursor/rules/cub.mdc",
    ".github/copilot-instructions.md",
    ".github/workflows/ci.yml",
    ".gemini/settings",
    ".pre-commit-config.yml.txt",
    "mcp.json",
    "opencode.json5",
    "src/bootstrap",
    "src/x-bootstrap",
    ".github/x-bootstrap.md",
    "docs/lefthook.yml.md",
    "",
]


@pytest.mark.parametrize(("path", "kind"), ALL)
def test_a_file_that_runs_is_known_in_any_folder_and_case(path: str, kind: str) -> None:
    assert classify_executable_path(path) == kind
    assert classify_executable_path(f"packages/a\nb/{path}") == kind
    assert classify_executable_path(path.swapcase()) == kind


@pytest.mark.parametrize("path", TEXT)
def test_other_files_are_text(path: str) -> None:
    assert classify_executable_path(path) is None


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (".claude/skills/", "agent file"),
        (".claude/agents/", "agent file"),
        (".agents/", "agent file"),
        (".cub/hooks/", "hook"),
        (".claude/", "agent setting"),
        ("pkg/.cub/", "agent setting"),
        (".githooks/", "hook"),
        (".vscode/", "agent setting"),
        ("docs/", None),
        (".claude-docs/", None),
        (".agents/rules/", None),
    ],
)
def test_a_whole_folder_from_elsewhere_counts_as_what_it_may_hold(
    path: str, kind: str | None
) -> None:
    assert classify_executable_path(path) == kind


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ("", {}),
        ("# nothing\n", {}),
        ("[]", {}),
        ("just text", {}),
        ("run: 5", {}),
        ("run:\n  checks: [make, 'npm test']", {"run.checks": '["make", "npm test"]'}),
        ("run: {harness: claude, model: x, timeout: 5m}", {"run.harness": '"claude"'}),
        ("run: {model: scripted/a.yaml}", {"run.model": '"scripted/a.yaml"'}),
        ("code: {model: x, allow: [Bash], deny: [Read], permissions: plan}", {
            "code.model": '"x"', "code.permissions": '"plan"', "code.allow": '["Bash"]',
        }),
        ("run: {permissions: auto}", {"run.permissions": '"auto"'}),
        ("run: {wrap: [bwrap], notify: beep}", {"run.wrap": '["bwrap"]', "run.notify": '"beep"'}),
        ("run: {checks: null, notify: false}", {"run.notify": "false"}),
        ("run: {message: x, commit: true, branch: y}", {}),
        ("targets: [GEMINI.md]\nplacement: top\ninline: [map]\nmap: {tokens: 5}", {}),
        (
            "harnesses:\n  a: {argv: [sh, -c, x], env: {A: b}}\n  b: {argv: [y]}",
            {
                "harnesses.a": '{"argv": ["sh", "-c", "x"], "env": {"A": "b"}}',
                "harnesses.b": '{"argv": ["y"]}',
            },
        ),
        (
            "context_commands:\n- date\n- {run: git log}",
            {"context_commands.0": '"date"', "context_commands.1": '{"run": "git log"}'},
        ),
        ("context_commands: date", {"context_commands.": '"date"'}),
        (
            "profiles:\n  ci: {run: {checks: [make]}, harnesses: {a: {argv: [x]}}}\n  b: 5",
            {"profiles.ci.run.checks": '["make"]', "profiles.ci.harnesses.a": '{"argv": ["x"]}'},
        ),
        ("run: &r {checks: [make]}\nprofiles: {a: {run: *r}}", {
            "run.checks": '["make"]', "profiles.a.run.checks": '["make"]',
        }),
        ("run: {checks: [2026-11-21, 1.5, true, null, ü]}", {
            "run.checks": '["2026-11-21", 1.5, true, null, "ü"]',
        }),
    ],
)  # fmt: skip
def test_the_commands_of_a_configuration_are_named_by_key(
    config: str, expected: dict[str, str]
) -> None:
    assert list_config_commands(config.encode()) == expected


def test_no_configuration_has_no_commands() -> None:
    assert list_config_commands(None) == {}


def test_keys_are_left_out_whatever_others_are_called() -> None:
    names = ("run.checks", "context_commands")
    inner = {"run": {"checks": ["a"], "wrap": ["w"]}, "context_commands": ["c"]}
    agents = {name: {"argv": ["x"]} for name in names}
    config = {**inner, "harnesses": agents, "profiles": dict.fromkeys(names, inner)}
    assert [*list_config_commands(json.dumps(config).encode(), omit=names)] == [
        "run.wrap",
        "harnesses.run.checks",
        "harnesses.context_commands",
        "profiles.run.checks.run.wrap",
        "profiles.context_commands.run.wrap",
    ]


BILLIONS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n"
    for a, b in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    "config",
    [
        "run: {checks: [",
        "run: {checks: a}\nrun: {checks: b}",
        "run:\n\tchecks: x",
        "\0",
        "run: {checks: &a [*a]}",
        "harnesses: {a: {[x, y]: z}}",
        "run: {checks: !!int x}",
        "run: {checks: !!omap x}",
        "x: " + "[" * 3000,
        f"{BILLIONS}run: {{checks: *j}}",
        f"run: {{checks: {'x' * 20_000}}}",
    ],
    ids=lambda config: repr(config[:30]),
)
def test_what_cannot_be_shown_is_a_known_error(config: str) -> None:
    with pytest.raises(CubError) as caught:
        list_config_commands(config.encode(), "sub/.cub/config.yaml")
    assert caught.value.where.startswith("sub/.cub/config.yaml")


_WORDS = st.sampled_from(
    ["run: ", "checks: ", "harnesses: ", "profiles: ", "context_commands: ", "- ", "? ", ": ",
     "&x ", "*x ", "!!int ", "!!float ", "!!timestamp ", "!!bool ", "!!set ", "!!omap ", "!t ",
     "[", "]", "{", "}", ",", "\n", "\n  ", "'", '"', "<<: ", "a", "1", "2026-13-45", "~", "\\x",
     "\x07", "# c", "---\n", "|%YAML 1.1\n", "0x", "1e400", ".nan", "make"]
)  # fmt: skip


_TEXTS = st.lists(_WORDS, max_size=12).map("".join) | st.text(max_size=40)


@few_examples
@given(
    _TEXTS | st.lists(_WORDS, max_size=4).map(lambda words: f"run: {{checks: {''.join(words)}}}")
)
def test_any_text_is_read_or_refused(config: str) -> None:
    try:
        found = list_config_commands(config.encode("utf-8", "surrogatepass"))
    except CubError:
        return
    for value in found.values():
        json.loads(value)
