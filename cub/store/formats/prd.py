"""`prd`: prd.json, the stories of a ralph loop, in a document or as a bare list."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from cub.store.formats import document as doc
from cub.store.formats.origin import names_in, origin_of, remembered, renamed, restored
from cub.store.formats.picking import (
    criteria,
    extras,
    first_line,
    others,
    priority,
    texts,
    written_extras,
    written_others,
)
from cub.store.ids import letters
from cub.store.jsonl import Record, canonical
from cub.store.spelling import CLOSED, normal

NAME = "prd"
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


def places(document: Any) -> list[doc.Place]:
    """Where the stories are: in a list of a document, or the document is one."""
    if isinstance(document, list):
        return [()]
    if not isinstance(document, dict):
        return []
    found = next((key for key in _LISTS if isinstance(document.get(key), list)), None)
    return [(found,)] if found else []


def read(data: bytes, where: str) -> doc.Imported:
    """The stories; one without an id gets one from what it says."""
    document = doc.parse(data, where)
    found = places(document)
    stories = [(place, raw) for place in found for raw in doc.items(document, place, where)]
    given = doc.Ids()
    keys = [given.give(_id(raw, f"story {n}", where)) for n, (_, raw) in enumerate(stories, 1)]
    records = [
        _remembered(raw, key, {"format": NAME, "place": list(place), "at": at})
        for at, ((place, raw), key) in enumerate(zip(stories, keys, strict=True))
    ]
    if records:
        records[0]["origin"]["document"] = doc.emptied(document, found)
    return doc.Imported(NAME, records, [], given.renamed)


def write(records: Sequence[Record]) -> bytes:
    """The document that the stories came from, or a new one."""
    skeleton = doc.skeleton_of(records, NAME)
    skeleton = skeleton if places(skeleton) else {"userStories": []}
    stories = [_written(record) for record in doc.in_order(records, NAME)]
    return doc.as_bytes(doc.rebuilt(skeleton, {places(skeleton)[0]: stories}))


def _id(raw: Record, what: str, where: str) -> str:
    """The id of a story; of one without, a few letters that are the same wherever it stands."""
    if "id" in raw:
        return doc.id_of(raw, what, where)
    said = canonical(raw.get("title") or raw.get("description") or "")
    return f"{NAME}-{letters(blake2b(said.encode()).digest(), 5)}"


def _remembered(raw: Record, key: str, source: Record) -> Record:
    names = names_in(raw, _ALIASES)
    record = _task(renamed(raw, {alias: own for own, alias in names.items()}), key)
    source |= {"names": names} if names else {}
    return remembered(record, raw, _renamed(record, names), source)


def _task(raw: Record, key: str) -> Record:
    """A story in cub's spelling. Its priority is its place in an order: what comes behind the
    fourth place has the last priority, where ids decide.
    """
    title = first_line(str(raw.get("title") or "")) or key
    found = texts(raw, ("title", "description", "notes"))
    whole = found.pop("title", "")
    needs = [str(one) for one in _list(raw.get("dependencies")) if type(one) in (str, int)]
    made: Record = {
        **extras(raw),
        "id": key,
        **({"description": whole} if whole.strip() not in ("", title) else {}),
        **{name: value for name, value in found.items() if value},
        "title": title,
        **_status(raw),
        **_priority(raw.get("priority")),
        "acceptance_criteria": criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(needs)),
        **others(raw, _USED),
    }
    return normal(made)


def _written(record: Record) -> Record:
    names = origin_of(record, NAME).get("names")
    made = _renamed(record, names if isinstance(names, dict) else {})
    return restored(record, made, NAME)


def _renamed(record: Record, names: dict[str, str]) -> Record:
    story = _story(record)
    if names.get("title") == "description":  # it has no title: the description says all
        story["title"] = story.pop("description") or story["title"]
    return renamed(story, names)


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
        **written_extras(record),
        **written_others(record, _USED),
    }


def _status(raw: Record) -> Record:
    passes = raw.get("passes", raw.get("status"))
    if isinstance(passes, bool):
        return {"status": CLOSED, "close_reason": "done"} if passes else {}
    return {"status": passes} if isinstance(passes, str) else {}


def _priority(value: object) -> Record:
    if type(value) is int and value >= 0:
        return {"priority": min(value, _LAST)}
    return priority(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
