"""Mutations of cub/git: what git has."""

from __future__ import annotations

from tests.mutations.mutation import Mutation

GIT = (
    Mutation(
        "the answer for an object ends a byte too late",
        "cub/git/objects.py",
        "data = out.read(size + 1)[:size]",
        "data = out.read(size)[:size]",
        ("tests/git/test_objects.py",),
    ),
)
