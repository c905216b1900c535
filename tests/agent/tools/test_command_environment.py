from __future__ import annotations

import pytest

from cub.agent.tools.command_environment import make_command_environment, remove_secrets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ANTHROPIC_API_KEY", "x"),
        ("GITHUB_TOKEN", "abc"),
        ("DB_PASS", "a b c"),
        ("PGPASSWORD", "hunter2"),
        ("DATABASE_URL", "postgres://user:pass1word@host/name"),
        ("ANYTHING", "sk-ant-api03-" + "aB3dE5gH7j" * 4),
    ],
)
def test_secrets_are_left_out_of_the_environment(name: str, value: str) -> None:
    assert remove_secrets({name: value, "LANG": "C"}) == {"LANG": "C"}


def test_other_variables_stay() -> None:
    environ = {
        "PATH": "/nix/store/0c1bfjg7rx5mqpvzh0lkpxwaqzyx3b2m-coreutils-9.1/bin:/usr/bin",
        "HOME": "/home/ann",
        "CUB_RUN": "2026-11-25T20-33-48-1a2b3c",
        "CUB_TASK": "cub-1a2b",
        "CUB_ATTEMPT": "/home/ann/project/.cub/runs/1/attempts/1",
        "SSH_AUTH_SOCK": "/tmp/ssh-XXXXabcdef/agent.12",
        "DATABASE_URL": "postgres://host/name",
        "TOKENIZERS_PARALLELISM": "false",
    }
    assert remove_secrets(environ) == environ


def test_variables_of_a_terminal_do_not_reach_a_command() -> None:
    environ = {
        "HGEDITOR": "vim", "KUBE_EDITOR": "vim", "SYSTEMD_PAGER": "less", "GPG_TTY": "/dev/pts/1",
        "EDITOR": "vim", "PAGER": "less", "TERM": "xterm", "LANG": "C", "GIT_TERMINAL_PROMPT": "1",
        "GITHUB_TOKEN": "abc", "SSH_ASKPASS": "/usr/bin/ask", "SSH_ASKPASS_REQUIRE": "force",
    }  # fmt: skip
    made = make_command_environment(environ)
    assert {name: made[name] for name in environ if name in made} == {
        "HGEDITOR": "false", "KUBE_EDITOR": "false", "SYSTEMD_PAGER": "cat",
        "EDITOR": "false", "PAGER": "cat", "TERM": "dumb", "LANG": "C", "GIT_TERMINAL_PROMPT": "0",
        "SSH_ASKPASS_REQUIRE": "never",
    }  # fmt: skip
