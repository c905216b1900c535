"""Remember the fields of a task as they were last imported, and merge the next import with them.

A task keeps digests of the imported values, which are short, and the same on all branches that
import one file. Lists keep one digest for each element.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from cub.json_values import get_object, list_texts
from cub.store.formats.source_fields import ORIGIN, get_source_digest
from cub.store.jsonl import Record, dump_canonical
from cub.store.task_ids import encode_letters
from cub.store.task_schema import CLOSED, IN_PROGRESS, LAST_IMPORT, LIST_KEYS, OPEN, SET_KEYS
from cub.store.timestamps import normalize_timestamp

# Fields that the store keeps, or that every change sets.
_STORE_FIELDS = {
    "id", "rev", "stamps", "lease", "created_at", "updated_at", "reopened_at", "deleted_at",
    ORIGIN, LAST_IMPORT,
}  # fmt: skip
_STATUS_FIELDS = ("status", "close_reason", "closed_at")  # one value, under the key of the first
Digest = str | list[str] | None


class ImportMerge(NamedTuple):
    """Hold the values that an import gives a task, None to remove one, and the fields in conflict.

    `is_visible`: more changes than what cub remembers of the import.
    """

    values: dict[str, Any]
    conflicts: list[str]
    is_visible: bool


def remember_import(record: Record, format_name: str) -> Record:
    """Return an imported record with what the next import needs to know of this one."""
    digests = {key: _digest(key, value) for key, value in _list_fields(record).items()}
    at = normalize_timestamp(record.get("updated_at"))
    memory = {
        "format": format_name,
        **({"at": at} if at else {}),
        "fields": {key: digest for key, digest in digests.items() if digest is not None},
    }
    return {**record, LAST_IMPORT: memory}


def forget_import(record: Record) -> Record:
    """Return a record without what its project knows of an import, for other projects."""
    stamps = record.get("stamps")
    if isinstance(stamps, dict):
        record = {**record, "stamps": {k: v for k, v in stamps.items() if k != LAST_IMPORT}}
    return {key: value for key, value in record.items() if key != LAST_IMPORT}


def merge_import(here: Record, there: Record, format_name: str) -> ImportMerge:
    """Merge an imported record, as `remember_import` returns it, with the task of this project.

    What changed on one side only is taken from there. What changed on both sides stays as it is
    here, and is a conflict if the values differ; of lists, the changes of both sides are taken.
    """
    memory = _read_memory(here, there, format_name)
    if memory is None:
        return ImportMerge({}, [], is_visible=False)
    fields, own = _list_fields(there), _list_fields(here)
    values, conflicts = dict[str, Any](), list[str]()
    for key in dict.fromkeys([*fields, *memory]):
        before, now, known = own.get(key), fields.get(key), memory.get(key)
        digests = _digest(key, before), _digest(key, now)
        if known == digests[1] or digests[0] == digests[1]:
            continue
        if key == "status":
            found = _merge_status(here, there, is_unchanged=known == digests[0])
        elif known == digests[0]:
            found = {key: now}
        else:
            found = _merge_lists(key, before, now, known)
        values |= found or {}
        conflicts += [key] if found is None else []
    kept = [get_object(get_object(record, ORIGIN), "fields") for record in (here, there)]
    is_visible = bool(values) or (ORIGIN in there and kept[0] != kept[1])
    remembered = {key: there[key] for key in (ORIGIN, LAST_IMPORT) if key in there}
    return ImportMerge(values | remembered, conflicts, is_visible)


def _read_memory(here: Record, there: Record, format_name: str) -> Mapping[str, Any] | None:
    """Return the digests of the last import; None if this one is older.

    Without a memory, all fields of the source count as changed there alone, except those by which
    the task is worked on, or at its end, here.
    """
    memory = here.get(LAST_IMPORT)
    if isinstance(memory, dict) and memory.get("format") == format_name:
        at, last = there[LAST_IMPORT].get("at"), memory.get("at")
        is_older = isinstance(last, str) and isinstance(at, str) and at < last
        return None if is_older else get_object(memory, "fields")
    digest = get_source_digest(here, format_name)
    if digest and digest == get_source_digest(there, format_name):
        return get_object(there[LAST_IMPORT], "fields")  # an earlier cub has imported the same
    if not digest and _is_older(there, here):
        return None
    own, is_claimed = _list_fields(here), "lease" in here
    unknown = {"status", "assignee"} if is_claimed else {"status"}
    if here["status"] in (OPEN, IN_PROGRESS) and not is_claimed:
        unknown.clear()
    keys = [key for key in _list_fields(there) if key not in unknown]
    return {key: _digest(key, own.get(key)) for key in keys}


def _merge_status(here: Record, there: Record, *, is_unchanged: bool) -> dict[str, Any] | None:
    """Return the status of the source; None if the one here stays: no import reopens a task."""
    is_closed = here["status"] == CLOSED
    if there["status"] == CLOSED:
        if is_closed and not is_unchanged:
            is_same = here.get("close_reason") == there.get("close_reason")
            return {} if is_same else None
    elif is_closed or "lease" in here or not is_unchanged:
        return {} if here["status"] == there["status"] else None
    return {**{key: there.get(key) for key in _STATUS_FIELDS}, "lease": None}


def _merge_lists(key: str, before: Any, now: Any, known: Any) -> dict[str, Any] | None:
    """Return a list with the changes of both sides; None if they replace the same element.

    The elements of a set have no order, so none of them replaces another one.
    """
    if key not in LIST_KEYS:
        return None
    base = set(list_texts({"": known}, ""))
    mine, theirs = ({_digest("", item): item for item in items or ()} for items in (before, now))
    both_removed = base - mine.keys() - theirs.keys()
    added = [side.keys() - base for side in (mine, theirs)]
    if key not in SET_KEYS and both_removed and all(added) and added[0] != added[1]:
        return None
    merged = [item for digest, item in mine.items() if digest in theirs or digest not in base]
    merged += [item for digest, item in theirs.items() if digest not in base and digest not in mine]
    return {key: merged}


def _list_fields(record: Record) -> Record:
    """Return the fields that an import can change, the status with what belongs to it."""
    skipped = {*_STORE_FIELDS, *_STATUS_FIELDS}
    fields = {key: value for key, value in record.items() if key not in skipped}
    return fields | {"status": [record.get(key) for key in _STATUS_FIELDS]}


def _digest(key: str, value: Any) -> Digest:
    """Return a digest of a value, for a list one for each element; None for an empty value."""
    if value in (None, "", []):
        return None
    if key in LIST_KEYS and isinstance(value, list):
        return [str(_digest("", item)) for item in value]
    return encode_letters(blake2b(dump_canonical(value).encode(), digest_size=5).digest(), 8)


def _is_older(record: Record, before: Record) -> bool:
    """Return whether a task changed here after it last changed at its source."""
    source_time = normalize_timestamp(record.get("updated_at"))
    own_time = normalize_timestamp(before.get("updated_at"))
    return bool(source_time and own_time) and source_time <= own_time
