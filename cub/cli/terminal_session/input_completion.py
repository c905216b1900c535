"""Complete commands and files of the project: what was used often and lately comes first."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from prompt_toolkit.auto_suggest import AutoSuggest, AutoSuggestFromHistory, Suggestion
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from cub.errors import CubError
from cub.files.signed_state import read_signed, write_signed

_HOUR, _DAY, _WEEK = 3_600.0, 86_400.0, 604_800.0
_MAX_COUNTED, _MAX_SHOWN = 300, 40
_MENTION = re.compile(r"(?<!\S)@(?P<path>[^\s\"]*)$")


class UsageCounts:
    """Count how often names were used, and when, in a file for each project."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        tree = read_signed(path) if path else {}
        self._counts: dict[str, tuple[int, float]] = {
            str(name): (int(count), float(at)) for name, (count, at) in tree.get("uses", {}).items()
        }

    def count_use(self, name: str) -> None:
        """Count a use. That it can't be stored costs only the order of later completions."""
        count, _ = self._counts.get(name, (0, 0.0))
        self._counts[name] = count + 1, self._clock()
        best = sorted(self._counts, key=self.rank, reverse=True)[:_MAX_COUNTED]
        self._counts = {key: self._counts[key] for key in best}
        if self._path:
            with suppress(CubError):
                write_signed(self._path, {"v": 1, "uses": self._counts}, is_lasting=False)

    def rank(self, name: str) -> float:
        """Return what is higher for a name that was used more often, or more lately."""
        count, at = self._counts.get(name, (0, 0.0))
        age = self._clock() - at
        weight = 4.0 if age < _HOUR else 2.0 if age < _DAY else 0.5 if age < _WEEK else 0.25
        return count * weight


class Candidate(NamedTuple):
    """Hold a command that may be completed: its name with the slash, its arguments, its help."""

    name: str
    arguments: str
    help: str
    values: Callable[[], Iterable[str]] = tuple


class InputCompleter(Completer):
    """Complete a command at the start, its first argument, and a file after @."""

    def __init__(
        self,
        list_candidates: Callable[[], Mapping[str, Candidate]],
        list_files: Callable[[], list[str]],
        counts: UsageCounts,
    ) -> None:
        self._list_candidates, self._list_files = list_candidates, list_files
        self._counts = counts
        self._files: list[str] | None = None

    def forget_files(self) -> None:
        """List the files again the next time: they may have changed."""
        self._files = None

    def get_completions(self, document: Document, _: CompleteEvent) -> Iterator[Completion]:
        """Yield completions, the best one first."""
        text = document.text_before_cursor
        if match := _MENTION.search(text):
            yield from self._complete_file(match["path"])
        elif text.startswith("/") and "\n" not in text:
            name, space, argument = text.partition(" ")
            if space:
                yield from self._complete_argument(name, argument)
            else:
                for row in self.rank_candidates(name):
                    shown = f"{row.name} {row.arguments}".rstrip()
                    yield Completion(row.name, -len(name), display=shown, display_meta=row.help)

    def rank_candidates(self, start: str) -> list[Candidate]:
        """Return the commands that begin with a text, then those that contain its letters."""
        rows = [row for row in self._list_candidates().values() if _has_letters(row.name, start)]
        return sorted(
            rows,
            key=lambda row: (not row.name.startswith(start), -self._counts.rank(row.name)),
        )

    def _complete_argument(self, name: str, start: str) -> Iterator[Completion]:
        row = self._list_candidates().get(name)
        values = row.values() if row and " " not in start else ()
        yield from (Completion(one, -len(start)) for one in values if one.startswith(start))

    def _complete_file(self, start: str) -> Iterator[Completion]:
        if self._files is None:
            self._files = self._list_files()
        ranked = rank_paths(self._files, start, self._counts.rank)
        for path in ranked[:_MAX_SHOWN]:
            text = f'"{path}"' if " " in path else path
            yield Completion(text, -len(start), display=path)


def rank_paths(paths: Iterable[str], start: str, rank: Callable[[str], float]) -> list[str]:
    """Return the paths that contain a text: those whose name begins with it first."""
    folded = start.casefold()
    rows = []
    for path in paths:
        whole = path.casefold()
        if folded in whole:
            name = whole.rpartition("/")[2]
            place = 0 if name.startswith(folded) or whole.startswith(folded) else 1
            rows.append((-rank(path), place, whole.count("/"), path))
    return [path for *_, path in sorted(rows)]


def _has_letters(name: str, typed: str) -> bool:
    letters = iter(name.casefold())
    return all(letter in letters for letter in typed.casefold())


class InputSuggester(AutoSuggest):
    """Show in gray how a command goes on, or the last input that began like this."""

    def __init__(self, completer: InputCompleter) -> None:
        self._completer, self._history = completer, AutoSuggestFromHistory()

    def get_suggestion(self, buffer: Buffer, document: Document) -> Suggestion | None:
        """Return the rest of the likeliest command, or of an earlier input; None without one."""
        text = document.text
        if not text.startswith("/") or " " in text or "\n" in text or len(text) == 1:
            return self._history.get_suggestion(buffer, document)
        rows = self._completer.rank_candidates(text)
        names = [row.name for row in rows if row.name.startswith(text)]
        return Suggestion(names[0][len(text) :]) if names else None
