"""`prd`: prd.json, the stories of a ralph loop, in a document or as a bare list."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from cub.store.formats import document as doc
from cub.store.formats.source_fields import (
    attach_origin,
    dump_extras,
    dump_unknown,
    find_aliases,
    get_origin,
    parse_criteria,
    pick_extras,
    pick_priority,
    pick_texts,
    pick_unknown,
    rename_keys,
    restore_source_fields,
    take_first_line,
)
from cub.store.jsonl import Record, dump_canonical
from cub.store.task_ids import encode_letters
from cub.store.task_schema import CLOSED, normalize_record

PRD = "prd"
_LISTS = ("userStories", "user_stories", "stories", "features")
_ALIASES = {
    "title": ("description",),
    "acceptanceCriteria": ("steps", "acceptance_criteria"),
    "dependencies": ("dependsOn", "depends_on"),
}
_USED = (
    "id", "title", "description", "acceptanceCriteria", "priority", "passes", "notes",
    "dependencies",
)  # fmt: skip
_LAST = 4


def find_story_lists(document: Any) -> list[doc.KeyPath]:
    """Where the stories are: in a list of a document, or the document is one."""
    if isinstance(document, list):
        return [()]
    if not isinstance(document, dict):
        return []
    found = next((key for key in _LISTS if isinstance(document.get(key), list)), None)
    return [(found,)] if found else []


def parse_prd(data: bytes, where: str) -> doc.ImportedTasks:
    """The stories; one without an id gets one from what it says."""
    document = doc.parse_document(data, where)
    found = find_story_lists(document)
    stories = [(place, raw) for place in found for raw in doc.list_items(document, place, where)]
    given = doc.UniqueIds()
    keys = [given.assign(_id(raw, f"story {n}", where)) for n, (_, raw) in enumerate(stories, 1)]
    records = [
        _attach_story_origin(raw, key, {"format": PRD, "place": list(place), "at": at})
        for at, ((place, raw), key) in enumerate(zip(stories, keys, strict=True))
    ]
    if records:
        records[0]["origin"]["document"] = doc.remove_task_lists(document, found)
    return doc.ImportedTasks(PRD, records, [], given.renamed_ids)


def dump_prd(records: Sequence[Record]) -> bytes:
    """The document that the stories came from, or a new one."""
    skeleton = doc.find_skeleton(records, PRD)
    skeleton = skeleton if find_story_lists(skeleton) else {"userStories": []}
    stories = [_dump_story(record) for record in doc.sort_by_origin(records, PRD)]
    return doc.dump_document(
        doc.insert_task_lists(skeleton, {find_story_lists(skeleton)[0]: stories})
    )


def _id(raw: Record, what: str, where: str) -> str:
    """The id of a story; of one without, a few letters that are the same wherever it stands."""
    if "id" in raw:
        return doc.require_id(raw, what, where)
    said = dump_canonical(raw.get("title") or raw.get("description") or "")
    return f"{PRD}-{encode_letters(blake2b(said.encode()).digest(), 5)}"


def _attach_story_origin(raw: Record, key: str, source: Record) -> Record:
    names = find_aliases(raw, _ALIASES)
    record = _task(rename_keys(raw, {alias: own for own, alias in names.items()}), key)
    source |= {"names": names} if names else {}
    return attach_origin(record, raw, _apply_aliases(record, names), source)


def _task(raw: Record, key: str) -> Record:
    """A story in cub's spelling. Its priority is its place in an order: what comes behind the
    fourth place has the last priority, where ids decide.
    """
    title = take_first_line(str(raw.get("title") or "")) or key
    found = pick_texts(raw, ("title", "description", "notes"))
    whole = found.pop("title", "")
    needs = [str(one) for one in _list(raw.get("dependencies")) if type(one) in (str, int)]
    made: Record = {
        **pick_extras(raw),
        "id": key,
        **({"description": whole} if whole.strip() not in ("", title) else {}),
        **{name: value for name, value in found.items() if value},
        "title": title,
        **_status(raw),
        **_priority(raw.get("priority")),
        "acceptance_criteria": parse_criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(needs)),
        **pick_unknown(raw, _USED),
    }
    return normalize_record(made)


def _dump_story(record: Record) -> Record:
    names = get_origin(record, PRD).get("names")
    made = _apply_aliases(record, names if isinstance(names, dict) else {})
    return restore_source_fields(record, made, PRD)


def _apply_aliases(record: Record, names: dict[str, str]) -> Record:
    story = _story(record)
    if names.get("title") == "description":  # it has no title: the description says all
        story["title"] = story.pop("description") or story["title"]
    return rename_keys(story, names)


def _story(record: Record) -> Record:
    get = record.get
    needs = get("depends_on")
    return {
        "id": record["id"],
        "title": get("title", ""),
        "description": get("description", ""),
        "acceptanceCriteria": get("acceptance_criteria", []),
        **({"priority": get("priority")} if get("priority") is not None else {}),
        "passes": get("status") == CLOSED,
        "notes": get("notes", ""),
        **({"dependencies": needs} if needs else {}),
        **dump_extras(record),
        **dump_unknown(record, _USED),
    }


def _status(raw: Record) -> Record:
    passes = raw.get("passes", raw.get("status"))
    if isinstance(passes, bool):
        return {"status": CLOSED, "close_reason": "done"} if passes else {}
    return {"status": passes} if isinstance(passes, str) else {}


def _priority(value: object) -> Record:
    if type(value) is int and value >= 0:
        return {"priority": min(value, _LAST)}
    return pick_priority(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
