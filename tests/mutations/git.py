"""Mutations of cub/git: what git has."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

GIT = list_mutations(
    {
        "cub/git/objects.py": {
            "the answer for an object ends a byte too late": (
                "data = out.read(size + 1)[:size]",
                "data = out.read(size)[:size]",
            ),
        },
    },
)
