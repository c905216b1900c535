"""Outputs of real tools: golden/checks/<tool>/<case>.txt."""

from __future__ import annotations

from tests.conftest import GOLDEN

FOLDER = GOLDEN / "checks"
SAMPLES = sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.txt"))


def read_sample(name: str) -> str:
    """Return an output as it is, with its line ends."""
    return (FOLDER / f"{name}.txt").read_bytes().decode()
