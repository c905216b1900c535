"""Editing `targets` in config.yaml as text: every other byte of the file stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from cub.errors import CubError
from cub.project.config import CONFIG, load
from cub.project.targets import normal

_PLAIN = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


class _Span(NamedTuple):
    """Where a list stands in the text, as offsets; `items` are the offsets of its items."""

    start: int
    items: tuple[int, ...]


def with_targets(data: bytes | None, targets: Sequence[str]) -> bytes:
    """The file's bytes with `targets` set; a list that is there keeps its order.

    Raises CubError, and names what to write by hand, where an edit of the text does not give
    exactly the same configuration with these targets (aliases, odd layouts).
    """
    text = (data or b"").decode()
    try:
        done = _edited(text, list(targets))
        before, after = _plain(text), _plain(done)
        fine = sorted(after.pop("targets")) == sorted(targets)
        before.pop("targets", None)
        fine = fine and before == after
    except (CubError, ValueError, LookupError):
        fine = False
    if not fine:
        raise CubError(
            "cub can't set `targets` here without touching the rest of the file",
            where=CONFIG,
            hint="write it by hand: targets: " + json.dumps(list(targets), ensure_ascii=False),
        )
    return done.encode()


def _edited(text: str, targets: list[str]) -> str:
    tree: Any = load(text.encode(), CONFIG) or {} if text.strip() else {}
    newline = "\r\n" if "\r\n" in text else "\n"
    old: Any = tree.get("targets")
    if old is None:
        gap = "" if not text or text.endswith("\n") else newline
        lines = ["targets:", *(f"  - {_scalar(target)}" for target in targets), ""]
        return text + gap + newline.join(lines)
    kept = {normal(str(item)) for item in old}
    items = tuple(_offset(text, *old.lc.item(n)) for n in range(len(old)))
    span = _Span(_offset(text, *tree.lc.value("targets")), items)
    dropped = [n for n, item in enumerate(old) if normal(str(item)) not in targets]
    change = _flow if old.fa.flow_style() else _block
    return change(text, span, dropped, [_scalar(t) for t in targets if t not in kept])


def _block(text: str, span: _Span, dropped: list[int], added: list[str]) -> str:
    """A list with an item a line: new lines behind the last item, dropped items' lines gone."""
    lines = text.splitlines(keepends=True)
    rows = [text.count("\n", 0, offset) for offset in span.items]
    last = lines[rows[-1]]
    dash = last[: last.index("-") + 1] + " "
    newline = "\r\n" if "\r\n" in text else "\n"
    lines[rows[-1]] = last if last.endswith("\n") else last + newline
    lines[rows[-1]] += "".join(f"{dash}{item}{newline}" for item in added)
    for n in dropped:
        row = rows[n]
        lines[row] = lines[row].removeprefix(text.splitlines(keepends=True)[row])
    return "".join(lines)


def _flow(text: str, span: _Span, dropped: list[int], added: list[str]) -> str:
    """A list in brackets: new items before the closing one; it is written anew to drop some."""
    end = text.index("]", span.items[-1] if span.items else span.start)
    if not dropped:
        inside = text[span.start + 1 : end].rstrip()
        comma = ", " if span.items and not inside.endswith(",") else ""
        at = span.start + 1 + len(inside)
        return text[:at] + comma + ", ".join(added) + text[at:]
    if "#" in text[span.start : end]:
        raise ValueError("a comment would be lost")
    kept = [text[offset:end] for n, offset in enumerate(span.items) if n not in dropped]
    items = [re.split(r"[,\s]", item, maxsplit=1)[0] for item in kept]
    return text[: span.start] + "[" + ", ".join([*items, *added]) + text[end:]


def _offset(text: str, line: int, column: int) -> int:
    return sum(map(len, text.splitlines(keepends=True)[:line])) + column


def _scalar(target: str) -> str:
    return target if _PLAIN.fullmatch(target) else json.dumps(target, ensure_ascii=False)


def _plain(text: str) -> dict[str, Any]:
    """The configuration as plain values, with normalized targets."""
    tree = dict(load(text.encode(), CONFIG) or {}) if text.strip() else {}
    if isinstance(tree.get("targets"), list):
        tree["targets"] = [normal(str(item)) for item in tree["targets"]]
    return tree
