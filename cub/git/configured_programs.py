"""Find out whether a git that only reads would run a program that its repository brings along."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path

from cub.git.process import decode_output, list_settings, query_git, split_nul

# Seconds: an answer that takes longer is none.
_TIMEOUT = 5.0
# What git-config(1) and gitattributes(5) name of programs that reading may run, of objects that it
# may fetch, and of another work tree. Names are in lower case, but for the part in the middle.
_RUNNING_KEYS = re.compile(
    r"core\.(?:fsmonitor|worktree)|diff\.external|diff\..*\.(?:command|textconv)|filter\..*|"
    r"merge\..*\.driver|gpg\..*|log\.showsignature|extensions\.partialclone|"
    r"remote\..*\.(?:promisor|vcs)",
    re.DOTALL,
)
_INDEX_HOOK = "post-index-change"  # `git diff` runs it when it has refreshed the index
_GITLINK = "160000"


def explain_configured_program(folder: Path) -> str:
    """Return why git may run another program when it reads in a folder; "" if it runs none.

    What the person's own configuration names is theirs. In a submodule, git runs by itself, with
    the submodule's configuration.
    """
    outputs = list[bytes]()
    for words in (
        ("config", "--show-scope", "-z", "--list"),
        ("rev-parse", "--show-toplevel", "--git-common-dir"),
        ("ls-files", "--stage", "-z", ":/"),
    ):
        result = query_git(folder, *words, timeout=_TIMEOUT)
        if result is None or result.exit_code:
            return "git can't read the repository here"
        outputs.append(result.stdout)
    top, common = decode_output(outputs[1]).splitlines()
    hooks = Path(folder, common, "hooks")
    for setting in filter(attrgetter("is_repository"), list_settings(outputs[0])):
        if _RUNNING_KEYS.fullmatch(setting.key):
            return f"the repository's configuration sets {setting.key}"
        if setting.key == "core.hookspath":
            hooks = Path(top, Path(setting.value).expanduser())
    if (hooks / _INDEX_HOOK).exists():
        return f"the repository has a hook {_INDEX_HOOK}"
    is_linked = any(entry.startswith(_GITLINK) for entry in split_nul(outputs[2]))
    return "the repository has submodules" * is_linked
