"""Read the steps of CI: what the project itself runs to build, test, lint and check types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath

from cub.repomap.stack.command_lines import split_commands
from cub.repomap.stack.command_purposes import detect_command_purpose
from cub.repomap.stack.facts import Fact, ProjectCommand, Technology
from cub.repomap.stack.manifest import Manifest
from cub.repomap.stack.yaml_reader import read_yaml_scalars

# Workflows that tell nothing about daily work.
_OTHER_WORKFLOWS = re.compile(
    r".*(?:release|publish|deploy|docs?\b|pages|stale|label|lock|codeql|scorecard|nightly|bench|cron"
    r"|docker|image|dependabot|renovate|zizmor|semgrep|triage|issue|bot\b|fuzz|preview|backport|sync"
    r"|semantic|welcome|greet|assign|notify|translat).*"
)
_PURPOSES = ("build", "test", "lint", "typecheck")
_SHELL = re.compile(r"[$`|<>*\\;{}]|^(?:if|then|else|fi|for|do|done|while|case|esac|echo|set)\b")
_ASSIGNMENTS = re.compile(r"^(?:[A-Z_][A-Z0-9_]*=\S* )+")
_CD = re.compile(r"cd[ ]+([\w./-]+)")
_UNKNOWN_FOLDER = "$"  # one that a variable names
_MAX_COMMAND_CHARS = 80


def read_github_workflow(manifest: Manifest) -> Iterator[Fact]:
    """Read the steps of a workflow of GitHub Actions."""
    yield Technology("GitHub Actions", "tool", "", ".github/workflows")
    if _OTHER_WORKFLOWS.fullmatch(manifest.name.rpartition(".")[0].lower()):
        return
    scalars = read_yaml_scalars(manifest.text)
    folders = {
        one.keys[:-1]: one.value for one in scalars if one.keys[-1:] == ("working-directory",)
    }
    for one in scalars:
        # The folder is the step's own, or the one that its job or the whole workflow sets.
        scopes = (one.keys[:-1], (*one.keys[:2], "defaults", "run"), ("defaults", "run"))
        if one.keys[:1] == ("jobs",) and one.keys[2:3] == ("steps",) and one.keys[4:] == ("run",):
            folder = next((folders[scope] for scope in scopes if scope in folders), "")
            yield from _list_commands(one.value, folder, manifest)


def read_gitlab_ci(manifest: Manifest) -> Iterator[Fact]:
    """Read the scripts of GitLab's jobs."""
    for keys, value in read_yaml_scalars(manifest.text):
        if keys[1:2] == ("script",) and len(keys) <= 3:
            yield from _list_commands(value, "", manifest)


def _list_commands(script: str, folder: str, manifest: Manifest) -> Iterator[ProjectCommand]:
    """Yield what can be typed as it is: without variables, pipes and the like."""
    for text in re.sub(r"\\\n\s*", "", script).split("\n"):
        line = " ".join(text.split())
        can_be_typed = not _SHELL.search(line.replace(" && ", " "))
        for part in split_commands(line):
            if part.startswith("cd "):
                change = _CD.fullmatch(part)
                folder = f"{folder}/{change[1]}" if change else _UNKNOWN_FOLDER
            elif can_be_typed:
                yield from _make_command(_ASSIGNMENTS.sub("", part), folder, manifest.path)


def _make_command(text: str, folder: str, source: str) -> Iterator[ProjectCommand]:
    path, purpose = normpath(folder.strip("/") or "."), detect_command_purpose(text)
    is_inside = not path.startswith("..") and _UNKNOWN_FOLDER not in path
    if purpose in _PURPOSES and is_inside and len(text) <= _MAX_COMMAND_CHARS:
        yield ProjectCommand(purpose, text, source, "" if path == "." else path, "ci")
