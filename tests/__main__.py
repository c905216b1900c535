"""`python -m tests`: everything that has to hold, pytest's summary last."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "--quiet", "."),
    ("mypy",),
    ("lint-imports", "--no-logo"),
    ("pytest", "-n", "auto", "-q"),
)


def main() -> int:
    """Run every check with the tools beside this Python; the exit code of the last bad one."""
    code = 0
    for name, *arguments in CHECKS:
        sys.stdout.write(f"== {name} {' '.join(arguments)}\n")
        sys.stdout.flush()
        tool = Path(sys.executable).with_name(name)
        done = subprocess.run([tool, *arguments, *_extra(name)], cwd=ROOT, check=False)
        code = done.returncode or code
    return code


def _extra(name: str) -> list[str]:
    return sys.argv[1:] if name == "pytest" else []


if __name__ == "__main__":
    sys.exit(main())
