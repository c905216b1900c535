"""What a mutation is: one exact text of a file of cub's, and what it is replaced by."""

from __future__ import annotations

from dataclasses import dataclass


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
