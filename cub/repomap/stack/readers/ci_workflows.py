"""Steps of CI as evidence: what the project itself runs to build, test, lint and check types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import normpath

from cub.repomap.stack.command_lines import split_commands
from cub.repomap.stack.command_purposes import detect_command_purpose
from cub.repomap.stack.facts import (
    CommandPurpose,
    Manifest,
    ManifestFacts,
    ManifestReader,
    ProjectCommand,
    Technology,
)
from cub.repomap.stack.yaml_reader import YamlScalar, read_yaml_scalars

# Workflows that tell nothing about daily work.
_OTHER = re.compile(
    r".*(?:release|publish|deploy|docs?\b|pages|stale|label|lock|codeql|scorecard|nightly|bench|cron"
    r"|docker|image|dependabot|renovate|zizmor|semgrep|triage|issue|bot\b|fuzz|preview|backport|sync"
    r"|semantic|welcome|greet|assign|notify|translat).*"
)
_PURPOSES: tuple[CommandPurpose, ...] = ("build", "test", "lint", "typecheck")
_SHELL = re.compile(r"[$`|<>*\\;{}]|^(?:if|then|else|fi|for|do|done|while|case|esac|echo|set)\b")
_ASSIGNMENT = re.compile(r"^(?:[A-Z_][A-Z0-9_]*=\S* )+")
_CD = re.compile(r"cd[ ]+([\w./-]+)")
_NOWHERE = "$"  # a folder that a variable names
_LONGEST = 80


def _github(manifest: Manifest) -> ManifestFacts:
    technology = Technology("GitHub Actions", "tool", "", ".github/workflows")
    if _OTHER.fullmatch(manifest.path.rpartition("/")[2].rpartition(".")[0].lower()):
        return ManifestFacts((technology,))
    found = read_yaml_scalars(manifest.text)
    folders = {one.keys[:-1]: one.value for one in found if one.keys[-1:] == ("working-directory",)}
    steps = [
        command
        for one in found
        if one.keys[:1] == ("jobs",) and one.keys[2:3] == ("steps",) and one.keys[4:] == ("run",)
        for command in _commands(one.value, _folder_of(one, folders), manifest.path)
    ]
    return ManifestFacts((technology,), tuple(dict.fromkeys(steps)))


def _folder_of(step: YamlScalar, folders: dict[tuple[str, ...], str]) -> str:
    """The step's own folder, or the one that its job or the whole workflow sets."""
    job = step.keys[:2]
    places = (step.keys[:-1], (*job, "defaults", "run"), ("defaults", "run"))
    return next((folders[place] for place in places if place in folders), "")


def _gitlab(manifest: Manifest) -> ManifestFacts:
    steps = [
        command
        for one in read_yaml_scalars(manifest.text)
        if one.keys[1:2] == ("script",) and len(one.keys) <= 3
        for command in _commands(one.value, "", manifest.path)
    ]
    technology = Technology("GitLab CI", "tool", "", manifest.path)
    return ManifestFacts((technology,), tuple(dict.fromkeys(steps)))


def _lines(script: str) -> Iterator[str]:
    """The lines of a script, with those behind a backslash joined."""
    for line in re.sub(r"\\\n\s*", "", script).split("\n"):
        yield " ".join(line.split())


def _commands(script: str, folder: str, source: str) -> Iterator[ProjectCommand]:
    """What one can type as it stands: without variables, pipes and the like."""
    for line in _lines(script):
        usable = not _SHELL.search(line.replace(" && ", " "))
        for part in split_commands(line):
            if part.startswith("cd "):
                moved = _CD.fullmatch(part)
                folder = f"{folder}/{moved[1]}" if moved else _NOWHERE
            elif usable:
                yield from _command(_ASSIGNMENT.sub("", part), _place(folder), source)


def _command(text: str, folder: str | None, source: str) -> Iterator[ProjectCommand]:
    purpose = detect_command_purpose(text)
    if purpose in _PURPOSES and folder is not None and len(text) <= _LONGEST:
        yield ProjectCommand(purpose, text, source, folder, "ci")


def _place(folder: str) -> str | None:
    """A folder of the project, "" for its root; None for one that nobody can tell."""
    path = normpath(folder.strip("/") or ".")
    if path.startswith("..") or "$" in path:
        return None
    return "" if path == "." else path


READERS = (
    ManifestReader((".github/workflows/*.yml", ".github/workflows/*.yaml"), _github),
    ManifestReader((".gitlab-ci.yml",), _gitlab),
)
