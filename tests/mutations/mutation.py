"""What a mutation is: one exact text of a file of cub's, and what it is replaced by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

# The text before and after, and the tests that notice unless they are the usual ones.
Change = tuple[str, str] | tuple[str, str, *tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of `path` that breaks what `name` says, and the tests that have to notice it.

    `before` stands in the file once. `tests` are files or node ids of the fast tier that take a
    few seconds in all.
    """

    name: str
    path: str
    before: str
    after: str
    tests: tuple[str, ...]

    def mutate(self, text: str) -> str:
        """Return the file's text with the mutation; raise ValueError where it does not fit."""
        found = text.count(self.before)
        if found != 1:
            raise ValueError(f"{self.name}: {self.path} has the text {found} times, not once")
        return text.replace(self.before, self.after)


def list_mutations(
    changes: Mapping[str, Mapping[str, Change]], tests: str = ""
) -> tuple[Mutation, ...]:
    """Return the changes by path and by name as mutations.

    Those that name no tests have to be noticed by `tests`, or else by the file's own test module.
    """
    return tuple(
        Mutation(name, path, before, after, tuple(own) or (tests or _find_test_module(path),))
        for path, named in changes.items()
        for name, (before, after, *own) in named.items()
    )


def _find_test_module(path: str) -> str:
    """Return the module that mirrors a file of cub's."""
    _, *folders, name = PurePath(path).parts
    return "/".join(("tests", *folders, f"test_{name}"))
