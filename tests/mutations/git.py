"""Mutations of cub/git: what a checkout held, and how it comes back."""

from __future__ import annotations

from tests.mutations.mutation import Mutation

GIT = (
    Mutation(
        "a lock from before an attempt is removed",
        "cub/git/lock_files.py",
        "_get_time_made(lock) >= since - _SLACK",
        "_get_time_made(lock) >= 0 * since",
        ("tests/git/test_lock_files.py",),
    ),
    Mutation(
        "the lock of a git at work is removed",
        "cub/git/lock_files.py",
        "        if _is_git_at_work(toplevel):\n            break\n",
        "",
        ("tests/git/test_lock_files.py",),
    ),
    Mutation(
        "the answer for an object ends a byte too late",
        "cub/git/objects.py",
        "data = out.read(size + 1)[:size]",
        "data = out.read(size)[:size]",
        ("tests/git/test_objects.py",),
    ),
)
