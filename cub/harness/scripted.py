"""The scripted client: it says and does what a script has for a task, for demos and tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cub.errors import CubError
from cub.files.reading import trouble
from cub.harness import player
from cub.harness.base import Launch, Start
from cub.harness.protocol import ProtocolStream
from cub.harness.script import ANY, Steps, read_script
from cub.harness.transcript import Transcript

NAME = "scripted"
DEFAULT = ".cub/script.yaml"
_STEP = "step.json"


@dataclass(frozen=True, slots=True)
class Scripted:
    """A client that follows the script `shown`; `tasks` are its steps for each task."""

    shown: str
    tasks: Steps
    name: str = NAME

    @property
    def program(self) -> str:
        """See `Harness`: the Python that runs cub."""
        return sys.executable

    @property
    def environ(self) -> Mapping[str, str]:
        """See `Harness`."""
        return {}

    def start(self, launch: Launch) -> Start:
        """Write the attempt's step into its folder, and have the player play it."""
        path = launch.folder / _STEP
        steps = self.tasks.get(launch.task) or self.tasks.get(ANY)
        step = dict(steps[min(max(launch.attempt, 1), len(steps)) - 1]) if steps else {}
        missing = "" if steps else f"{self.shown} has no steps for the task {launch.task}"
        told = {"task": launch.task, "python": sys.executable, "missing": missing, **step}
        try:
            path.write_text(json.dumps(told), encoding="utf-8")
        except OSError as error:
            raise trouble(error, path.as_posix(), "cannot be written") from error
        argv = (sys.executable, "-I", "-S", player.__file__, str(path))
        return Start(argv, launch.prompt.encode("utf-8", "replace"), self.environ)

    def stream(self) -> ProtocolStream:
        """It speaks cub's event protocol."""
        return ProtocolStream()

    def succeeded(self, told: Transcript, exit: int | None) -> bool:  # noqa: A002 - a run's word
        """It ended with 0, and its last word is no failure."""
        return exit == 0 and told.ended and not told.failed


def scripted(path: Path, shown: str = "") -> Scripted:
    """The client of a script; the file is read now. CubError for a file that is no script."""
    if not path.is_absolute():
        raise CubError("a script needs a whole path", where=path.as_posix())
    name = shown or path.as_posix()
    return Scripted(name, read_script(path, name))
