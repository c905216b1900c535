"""Read `prd`: prd.json, the stories of a ralph loop, in a document or as a bare list."""

from __future__ import annotations

from hashlib import blake2b
from itertools import chain
from typing import Any

from cub.store.formats import source_fields as fields
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
_LAST_PRIORITY = 4


def find_story_lists(document: Any) -> fields.TaskLists:
    """Return the stories: a list of a document, or the document itself."""
    if isinstance(document, list):
        return {"": document}
    if not isinstance(document, dict):
        return {}
    key = next((key for key in _LISTS if isinstance(document.get(key), list)), None)
    return {key: document[key]} if key else {}


def parse_prd(lists: fields.TaskLists, where: str) -> fields.ImportedTasks:
    """Return the stories; one without an id gets an id that is made from its title."""
    unique_ids = fields.UniqueIds()
    records = []
    for number, raw in enumerate(chain(*lists.values()), 1):
        task_id = unique_ids.assign(_make_id(raw, f"story {number}", where))
        records.append(fields.attach_origin(_story_to_task(raw, task_id), raw, PRD, _ALIASES))
    return fields.ImportedTasks(PRD, records, [], unique_ids.warnings)


def _make_id(raw: Record, what: str, where: str) -> str:
    """Return a story's id, or letters that are the same wherever a story without one is."""
    if "id" in raw:
        return fields.require_id(raw, what, where)
    name = dump_canonical(raw.get("title") or raw.get("description") or "")
    return f"{PRD}-{encode_letters(blake2b(name.encode()).digest(), 5)}"


def _story_to_task(story: Record, task_id: str) -> Record:
    """Return a story in cub's spelling."""
    raw = fields.rename_aliases(story, _ALIASES)
    title = fields.take_first_line(str(raw.get("title") or "")) or task_id
    texts = fields.pick_texts(raw, ("title", "description", "notes"))
    whole_title = texts.pop("title", "")
    needs = raw.get("dependencies")
    needs = [str(need) for need in needs if type(need) in (str, int)] if type(needs) is list else []
    task: Record = {
        **fields.pick_extras(raw),
        "id": task_id,
        **({"description": whole_title} if whole_title.strip() not in ("", title) else {}),
        **{name: value for name, value in texts.items() if value},
        "title": title,
        **_pick_status(raw),
        **_pick_order(raw.get("priority")),
        "acceptance_criteria": fields.parse_criteria(raw.get("acceptanceCriteria")),
        "depends_on": list(dict.fromkeys(needs)),
        **fields.pick_unknown(raw, _USED),
    }
    return normalize_record(task)


def _pick_status(raw: Record) -> Record:
    passes = raw.get("passes", raw.get("status"))
    if isinstance(passes, bool):
        return {"status": CLOSED, "close_reason": "done"} if passes else {}
    return {"status": passes} if isinstance(passes, str) else {}


def _pick_order(value: object) -> Record:
    """Return a place in an order as a priority; all places after the fourth have the last one."""
    if type(value) is int and value >= 0:
        return {"priority": min(value, _LAST_PRIORITY)}
    return fields.pick_priority(value)
