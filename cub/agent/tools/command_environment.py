"""Make the environment of a command: without secrets, and with nothing that waits for a person."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from cub.masking import mask_text
from cub.masking.named_values import rate_name

# A shell runs it. It fails, as a `rebase -i` that leaves its list as it is would seem to work.
_LIST_EDITOR = "echo 'set GIT_SEQUENCE_EDITOR to a command that edits the list' >&2; false"
# So that nothing waits for a person. Prompts need no more: there is no terminal to show them on.
_UNATTENDED = {
    "EDITOR": "false", "VISUAL": "false",
    "GIT_EDITOR": "true",  # merges, amended commits and continued rebases keep their messages
    "GIT_SEQUENCE_EDITOR": _LIST_EDITOR,
    "PAGER": "cat", "GIT_PAGER": "cat", "MANPAGER": "cat",
    "TERM": "dumb",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
}  # fmt: skip
_ASKS = ("GPG_TTY", "SSH_ASKPASS")  # where gpg, ssh, and git would ask for a passphrase


def make_command_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: without secrets, and with nothing that waits."""
    own = {name: value for name, value in remove_secrets(environ).items() if name not in _ASKS}
    others = {name: "false" for name in own if name.endswith("EDITOR")}
    pagers = {name: "cat" for name in own if name.endswith("PAGER")}
    return {**own, **others, **pagers, **_UNATTENDED}


def remove_secrets(environ: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without the variables whose names or values are those of secrets."""
    return {name: value for name, value in environ.items() if not is_secret(f"{name}={value}")}


@cache  # for each variable of each command
def is_secret(assigned: str) -> bool:
    """Return whether `NAME=value` has the name or the value of a secret."""
    return bool(rate_name(assigned.partition("=")[0])) or mask_text(assigned) != assigned
