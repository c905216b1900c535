"""A copy of the repository in which one file after the other is mutated, and tests run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.conftest import copy_checkout
from tests.mutations.mutation import Mutation

REPOSITORY = Path(__file__).parents[2]
MUTATION_LIMIT = 60.0  # seconds that the tests of one mutation may take
# With one seed, properties have the same examples each time.
_OPTIONS = ("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-n", "0", "--hypothesis-seed=0")
_FAILED = re.compile(r"^FAILED (.*?)(?: - .*)?$|^ERROR (\S+::.*?)(?: - .*)?$", re.MULTILINE)
_IN_COPY = "import cub, sys; sys.exit(not cub.__file__.startswith(sys.argv[1]))"


class BrokenCopyError(Exception):
    """The tests in a copy did not run: what they say of a mutation means nothing."""


@dataclass(slots=True)
class Copy:
    """A copy of the repository's files in `root`. One thread works in it at a time."""

    root: Path
    _times: Iterator[int] = field(default_factory=lambda: count(1))

    @classmethod
    def make(cls, root: Path, source: Path = REPOSITORY) -> Copy:
        """Copy what git tracks, and new files that it does not ignore, as they are on disk."""
        copy_checkout(source, root)
        made = cls(root.resolve())
        made._require_own_cub()
        return made

    @contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """Have the mutation in its file meanwhile."""
        path = self.root / mutation.path
        found, text = path.stat(), path.read_text(encoding="utf-8")
        try:
            path.write_text(mutation.mutate(text), encoding="utf-8")
            # Bytecode counts as fresh if size and second of the source are the same: no two
            # mutations of a file may have one second.
            second = int(found.st_mtime) + 10 * next(self._times)
            os.utime(path, (second, second))
            yield
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    def first_failure(self, tests: Sequence[str], limit: float | None = MUTATION_LIMIT) -> str:
        """Run tests until one fails, for `limit` seconds; its id, "" if all pass.

        BrokenCopyError if they can't run.
        """
        argv = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
        process = subprocess.Popen(
            argv,
            cwd=self.root,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return f"the limit of {limit:.0f} s"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode == pytest.ExitCode.OK:
            return ""
        failed = _FAILED.search(said)
        if process.returncode != pytest.ExitCode.TESTS_FAILED or failed is None:
            raise BrokenCopyError(said[-3000:])
        return str(failed[1] or failed[2])

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.root), "TMPDIR": str(self.root.parent)}
        return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | own

    def _require_own_cub(self) -> None:
        argv = [sys.executable, "-c", _IN_COPY, str(self.root / "cub")]
        if subprocess.run(argv, cwd=self.root, env=self._environment(), check=False).returncode:
            raise BrokenCopyError("tests in the copy would import cub from elsewhere")
