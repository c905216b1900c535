"""Mark texts so that each is known by its content, in whatever file it arrives.

A mark is a word that nothing else has. It replaces the end of a line by as many bytes, so limits in
bytes hold; only lines that are too short for it grow. A text that several files have gets the same
marks in each, also where another text quotes it, and so does a line that several texts share: what
is equal stays equal. Comments, front matter, imports and markers stay as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from cub.edit.document import BOM, Document
from cub.edit.sections import find_section_or_none
from cub.project.instruction_files import SHARED_WORDS

_MARK = re.compile(r"cubmark[0-9a-f]{5}")
_SIZE = len("cubmark00000")
_GAP = 500  # bytes from mark to mark at most, so the place of a cut shows
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)  # Claude Code takes comments out
_HEADING = re.compile(r"^[\s#]+|#+\s*$")  # may have another level where it is inlined
_PLAIN = re.compile(r"[^\r\n`*_\[\]<>|\\@&#\"{}]+")  # without markup
_PREFIX = re.compile(r"\s*(?:[-+*>]\s+|\d+[.)]\s+)*")
# What a mark would change: imports, commands, fences, link definitions, and words that cub needs.
_FIXED = re.compile(rf"@|!`|^\s*(?:```|~~~|\[.*\]:|/)|{re.escape(SHARED_WORDS.decode())}")


class Arrival(NamedTuple):
    """Say how often a text arrived, and whether only a part of it did.

    `line` is the last one that arrived of a text that was cut, from 1; 0 if that is not known.
    """

    times: int
    is_cut: bool
    line: int = 0

    def to_text(self) -> str:
        """Return it for people: the number, and `cut` if a part is missing."""
        place = f" after line {self.line}" if self.line else ""
        return f"{self.times}, cut{place}" if self.is_cut else str(self.times)


class UnmarkedText(NamedTuple):
    """Hold a text to mark, in the words of each file that has it.

    `movable` are the words that arrive by whatever way. A text without words is at the end of the
    file at `path`.
    """

    path: str
    variants: tuple[str, ...]
    movable: str


class Mark(NamedTuple):
    """Hold a word, and the number of its line in the text's file, from 1.

    One that `is_shared` is in other texts as well, and does not tell how often this one arrived.
    """

    word: str
    line: int
    is_shared: bool = False


Marks = tuple[Mark, ...]


def count_arrivals(texts: Iterable[Marks], sent: Iterable[str]) -> list[Arrival | None]:
    """Return how often each text is in what was sent; None for one without marks."""
    counts = Counter(word for part in sent for word in _MARK.findall(part))
    return [_count_arrival(marks, counts) if marks else None for marks in texts]


def _count_arrival(marks: Marks, counts: Mapping[str, int]) -> Arrival:
    seen = [counts.get(mark.word, 0) for mark in marks]
    own = [times for mark, times in zip(marks, seen, strict=True) if not mark.is_shared]
    times = max(own or seen)
    is_cut = min(seen) == 0 < times
    has_start = is_cut and not any(seen[seen.index(0) :])
    return Arrival(times, is_cut, marks[seen.index(0) - 1].line if has_start else 0)


def mark_texts(
    files: Mapping[str, bytes], texts: Sequence[UnmarkedText]
) -> tuple[dict[str, bytes], list[Marks]]:
    """Return the files with marks in them, and the marks of each text; () if it is in no file."""
    opened = {path: _File(data) for path, data in files.items()}
    shared = _SharedLines(opened.values())
    words = (f"cubmark{number:05x}" for number in range(16**5))
    folded = [[_fold_text(variant) for variant in text.variants] for text in texts]
    found: dict[int, Marks] = {}
    # The shortest first: a longer one may quote it, and has marks of its own around that.
    for at in sorted(range(len(texts)), key=lambda at: sum(map(len, folded[at][0]))):
        places = list(_find_places(folded[at], opened.values()))
        if not places and texts[at].path in opened and not folded[at][0]:
            places = [(opened[texts[at].path], {})]
        movable = set(_fold_text(texts[at].movable))
        found[at] = tuple(
            sorted(_mark_places(places, movable, shared, words), key=lambda mark: mark.line)
        )
        for file, numbers in places:
            file.taken.update(numbers.values())
    marked = {path: b"".join(file.lines) for path, file in opened.items()}
    return marked, [found[at] for at in range(len(texts))]


class _File:
    """Hold the lines of a file while they are marked.

    They are read as they come, in `rows` with their numbers, and also without the managed section,
    which the user's text may be around. `taken` are the lines of texts that were marked; `words`
    are the marks by line.
    """

    def __init__(self, data: bytes) -> None:
        document = Document(data)
        self.lines = [*document.lines] or [b""]
        self.taken = set[int]()
        self.words: dict[int, str] = {}
        self.rows = list(_fold_lines(document))
        self._orders = [self.rows]
        if section := find_section_or_none(document):
            inside = range(section.start, section.end)
            self._orders.append([row for row in self.rows if row[0] not in inside])
        self._texts = [_join_lines(line for _, line in order) for order in self._orders]

    def find(self, lines: Sequence[str]) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of the lines that say the same, for each place."""
        wanted = _join_lines(lines)
        for rows, text in zip(self._orders, self._texts, strict=True):
            at = text.find(wanted) if lines else -1
            while at >= 0:
                first = text.count("\n", 0, at)
                yield tuple(number for number, _ in rows[first : first + len(lines)])
                at = text.find(wanted, at + len(wanted) - 1)

    def can_mark(self, number: int) -> bool:
        """Return whether a line may have a mark, and belongs to no text that has some."""
        return number not in self.taken and _insert(self.lines[number], "") is not None

    def has_space(self, number: int) -> bool:
        """Return whether a line may have a mark, and does not grow by it."""
        marked = _insert(self.lines[number], "0" * _SIZE) if self.can_mark(number) else None
        return marked is not None and len(marked) == len(self.lines[number])

    def mark(self, number: int, word: str, debt: int) -> int:
        """Write a mark into a line that may have one; return how many bytes it grew.

        Up to `debt` bytes, by which others grew, are taken out of it.
        """
        line = self.lines[number]
        self.lines[number] = _insert(line, word, debt) or line
        self.words[number] = word
        return len(self.lines[number]) - len(line)

    def append(self, number: int, word: str) -> None:
        """Write a mark below a line."""
        self.lines[number] = self.lines[number].rstrip(b"\r\n") + f"\n\n{word}\n".encode()
        self.words[number] = word


_Key = tuple[str, int]  # a line's words, and how many such lines the text has before it
_Place = tuple[_File, dict[_Key, int]]  # the line's number


class _SharedLines:
    """Know the places of each line, and mark those that several texts have alike in all."""

    def __init__(self, files: Iterable[_File]) -> None:
        self._places: defaultdict[str, list[tuple[_File, int]]] = defaultdict(list)
        for file in files:
            for number, line in file.rows:
                self._places[line].append((file, number))
        self._words: dict[str, str] = {}

    def find(self, places: Sequence[_Place]) -> set[str]:
        """Return the lines of a text that stand outside of its places as well."""
        inside = {(id(file), number) for file, lines in places for number in lines.values()}
        return {
            line
            for line in {line for line, _ in places[0][1]}
            if any((id(file), number) not in inside for file, number in self._places[line])
        }

    def can_mark(self, line: str) -> bool:
        """Return whether a line has a mark, or can have one wherever it stands."""
        return line in self._words or all(
            file.has_space(number) for file, number in self._places[line]
        )

    def mark(self, line: str, words: Iterator[str]) -> None:
        """Mark a line wherever it stands, unless it is."""
        if line not in self._words:
            self._words[line] = next(words)
            for file, number in self._places[line]:
                file.mark(number, self._words[line], 0)
                file.taken.add(number)


def _find_places(variants: Iterable[list[str]], files: Collection[_File]) -> Iterator[_Place]:
    """Yield the files that have a text, with the number of each of its lines there."""
    for lines in {tuple(lines): lines for lines in variants}.values():
        keys = list(_number_repeats(lines))
        for file in files:
            for numbers in dict.fromkeys(file.find(lines)):
                yield file, dict(zip(keys, numbers, strict=True))


def _number_repeats(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    seen: Counter[str] = Counter()
    for line in lines:
        yield line, seen[line]
        seen[line] += 1


def _mark_places(
    places: Sequence[_Place],
    movable: Collection[str],
    shared: _SharedLines,
    words: Iterator[str],
) -> Iterator[Mark]:
    """Mark lines that all places have: the first, the last, and some between; yield the marks."""
    if not places:
        return
    file, numbers = places[0]
    elsewhere = shared.find(places)
    keys = [
        key
        for key in numbers
        if key[0] in movable and _can_mark(key, places, shared if key[0] in elsewhere else None)
    ]
    own = [key for key in keys if key[0] not in elsewhere]
    sizes = {key: len(file.lines[numbers[key]]) for key in keys}
    chosen = _choose_keys(keys, sizes, own[:1])
    for line, _ in chosen:
        if line in elsewhere:
            shared.mark(line, words)
    quoted = sorted(file.words.keys() & set(numbers.values()))
    yield from (Mark(file.words[at], at + 1, is_shared=bool(own)) for at in quoted)
    debt = 0
    for key in sorted(chosen, key=lambda key: sizes[key]):  # the short ones grow
        if key[0] not in elsewhere:
            yield Mark(word := next(words), numbers[key] + 1)
            debt += max(one.mark(lines[key], word, debt) for one, lines in places)
    if not (own or quoted):
        yield Mark(word := next(words), max(numbers.values(), default=len(file.lines) - 1) + 1)
        for one, lines in places:
            one.append(max(lines.values(), default=len(one.lines) - 1), word)


def _can_mark(key: _Key, places: Sequence[_Place], shared: _SharedLines | None) -> bool:
    """Return whether a line can be marked in all places; if it is `shared`, wherever it stands."""
    if not all(key in lines for _, lines in places):
        return False
    if shared:
        return shared.can_mark(key[0])
    return all(file.can_mark(lines[key]) for file, lines in places)


def _choose_keys(
    keys: Sequence[_Key], sizes: Mapping[_Key, int], wanted: Collection[_Key]
) -> list[_Key]:
    """Return the first key, the last, those that are wanted, and some between."""
    gap = min(_GAP, sum(sizes.values()) // 3)
    chosen, passed = [], gap
    for key in keys:
        passed += sizes[key]
        if passed >= gap or key == keys[-1] or key in wanted:
            passed = 0
            chosen.append(key)
    return chosen


def _insert(line: bytes, word: str, debt: int = 0) -> bytes | None:
    """Return a line with a mark, `debt` bytes shorter if it is long enough; None if it may not."""
    text = line.decode("utf-8", "surrogateescape")
    bare = text.rstrip()
    if _FIXED.search(bare):
        return None
    start = _PREFIX.match(bare)
    for run in reversed(list(_PLAIN.finditer(bare, start.end() if start else 0))):
        kept, size = run[0], len(_encode(run[0]))
        if size >= _SIZE:
            debt = min(debt, size - _SIZE)
            while size - len(_encode(kept)) < _SIZE + debt:
                kept = kept[:-1]
            filled = word.ljust(size - len(_encode(kept)) - debt, ".")
            return _encode(f"{text[: run.start()]}{kept}{filled}{text[run.end() :]}")
    if bare.endswith(("|", "\\", "#")) or not bare:
        return None
    return _encode(f"{bare} {word}{text[len(bare) :]}")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _fold_text(text: str) -> list[str]:
    return [line for _, line in _fold_lines(Document(_encode(text)))]


def _fold_lines(document: Document) -> Iterator[tuple[int, str]]:
    """Yield each line with words and its number, without what agents change.

    Neither comments nor the front matter count.
    """
    lines = [line.decode("utf-8", "replace") for line in document.lines]
    starts = [0, *accumulate(map(len, lines))]
    dropped = {
        at
        for match in _COMMENT.finditer("".join(lines))
        for at in range(bisect_right(starts, match.start()) - 1, bisect_left(starts, match.end()))
    }
    size = document.head_size
    dropped.update(range(len(Document(document.data[:size]).lines) if size > len(BOM) else 0))
    for at, line in enumerate(lines):
        folded = " ".join(_HEADING.sub("", line.removeprefix("\ufeff")).split())
        if at not in dropped and any(map(str.isalnum, folded)):
            yield at, folded


def _join_lines(lines: Iterable[str]) -> str:
    return "\n".join(["", *lines, ""])
