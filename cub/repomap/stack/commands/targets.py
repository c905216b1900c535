"""Named targets of a project (scripts, environments, tasks) as commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from cub.repomap.stack.commands.purposes import purpose_of_target
from cub.repomap.stack.commands.target_names import is_plain_name, rank_of_name
from cub.repomap.stack.facts import Command, Manifest, Purpose

_NAME = re.compile(r"[A-Za-z0-9_][\w.:@/+-]{0,60}", re.ASCII)  # what no shell takes apart


def commands_of(
    manifest: Manifest, named: Mapping[str, str], typed: Callable[[str], str]
) -> tuple[Command, ...]:
    """The commands for those of the targets whose purpose is known, the plainest names first.

    `named` maps a target to what it runs, "" where that is not known; `typed` says what to type
    for it. Where a target is just called `lint`, others that lint are its parts or variants, and
    are left out; those of tests stay, because one test suite is worth running by itself.
    """
    found = [
        (rank_of_name(name), purpose, name)
        for name, line in named.items()
        if _NAME.fullmatch(name) and (purpose := purpose_of_target(name, line))
    ]
    return tuple(
        Command(purpose, typed(name), manifest.path, manifest.folder, "target")
        for purpose, name in _without_variants(sorted(found, key=lambda one: one[0]))
    )


def _without_variants(found: list[tuple[int, Purpose, str]]) -> Iterator[tuple[Purpose, str]]:
    plain: set[Purpose] = set()
    for _, purpose, name in found:
        if purpose not in plain or purpose == "test":
            yield purpose, name
        if is_plain_name(name):
            plain.add(purpose)
