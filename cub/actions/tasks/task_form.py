"""Render a task as a YAML form that people edit, and apply the edited form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult
from cub.actions.tasks.task_edits import put_edited_record
from cub.actions.tasks.task_fields import TaskFields, check_text
from cub.config_edit.nodes import ConfigNode, parse_scalar
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.source_text import SourceText, decode_source
from cub.store.jsonl import Record

FORM_TEXTS = ("title", "type", "priority", "parent", "description", "notes")
FORM_LISTS = {
    "labels": "labels", "depends_on": "depends_on", "acceptance_criteria": "accept",
    "checks": "checks",
}  # fmt: skip
_ORDER = (*FORM_TEXTS[:4], *FORM_LISTS, *FORM_TEXTS[4:])
_MAX_BYTES = 1024 * 1024  # bytes; a description may have 64 KiB, and so may the notes
_PLAIN = re.compile(r"[^\W_](?:[\w ,./()'&+-]*[\w./)])?")
_HALF = re.compile("[\ud800-\udfff]")
_HEAD = """\
# The task {key}. Save and close to change it; an unchanged form changes nothing.
# priority is 0 to 4, and 0 comes first; type is task, feature, bug, epic or chore.
"""


def render_form(record: Record) -> str:
    """Return the fields that a person may edit."""
    keys = {**dict.fromkeys((*FORM_TEXTS, *FORM_LISTS)), "type": "issue_type"}
    fields = {key: record.get(own or key) for key, own in keys.items()}
    return _HEAD.format(key=record["id"]) + dump_form_fields(fields)


def apply_form(stores: Stores, task_id: str, before: str, after: str, shown: str) -> TaskResult:
    """Change a task as its form says; CubError with `shown`, line and column for a wrong form.

    Only fields that differ from the form as it was given out are changed, so edits that somebody
    made in the meantime stay.
    """
    old, new = parse_form_fields(before, shown), parse_form_fields(after, shown)
    values = {name: value for name, value in new.items() if value != old.get(name)}
    names = {**dict.fromkeys(FORM_TEXTS), **FORM_LISTS}
    # `notes` has no option on the command line.
    changed = {names[key] or key: value for key, value in values.items() if key != "notes"}
    with stores.transaction() as transaction:
        record = transaction.tasks.read_record(transaction.tasks.find_id(task_id))
        fields = TaskFields(**changed).to_record_values(transaction.tasks)
        if values.get("parent") == "":
            fields["parent"] = None
        if "notes" in values:
            fields["notes"] = check_text(values["notes"], "the text of the notes") or None
        put_edited_record(transaction, record, fields)
    return transaction.result


def dump_form_fields(fields: Mapping[str, Any]) -> str:
    """Return the fields as YAML; bytes that are not text are shown as U+FFFD."""
    values = {**fields, **{key: fields.get(key) or [] for key in FORM_LISTS}}
    return "".join(f"{key}:{_dump_value(values.get(key))}\n" for key in _ORDER)


def parse_form_fields(text: str, shown: str) -> dict[str, Any]:
    """Return the fields of a form; CubError with `shown`, line and column for a wrong one."""
    source = decode_source(text.encode("utf-8", "surrogateescape"), shown, _MAX_BYTES)
    root = parse_yaml(source)
    if root is None or root.kind != "mapping":
        raise CubError("not a valid task form", where=shown, hint="nothing was changed")
    values: dict[str, Any] = {}
    for key, entry in root.collect_entries().items():
        if key not in _ORDER:
            raise source.make_error(entry.key.start, f"unknown field {key!r}", ", ".join(_ORDER))
        values[key] = (_read_list if key in FORM_LISTS else _read_text)(source, entry.value)
    return values


def _dump_value(value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"\n  - {_dump_scalar(str(item))}" for item in value) or " []"
    text = _HALF.sub("\ufffd", "" if value is None else str(value))
    lines = text.strip("\n").split("\n")
    if len(lines) > 1 and all(line.replace("\t", "").isprintable() for line in lines):
        # Without a number, YAML takes the whitespace of the first line for the block's indentation.
        depth = "2" if lines[0][:1] in (" ", "\t") else ""
        return "\n  ".join((f" |{depth}", *lines)).replace("\n  \n", "\n\n")
    return f" {_dump_scalar(text)}".rstrip()


def _dump_scalar(text: str) -> str:
    """Return a text as it is if nothing in it means anything to YAML, else in quotes."""
    if _PLAIN.fullmatch(text) and (parse_scalar(text) == text or text.isdecimal()):
        return text
    quoted = json.dumps(_HALF.sub("\ufffd", text), ensure_ascii=False) if text else ""
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def _read_list(source: SourceText, node: ConfigNode) -> list[str]:
    if node.kind == "list":
        return [_read_text(source, item) for item in node.items]
    if node.kind == "scalar" and node.value is None:
        return []
    raise source.make_error(node.start, "expected a list", "write `- ` before each item")


def _read_text(source: SourceText, node: ConfigNode) -> str:
    """Return a text as it is written: 1.10 is no number here."""
    if node.kind != "scalar":
        hint = "quote a string that contains `: ` or starts with `[`, `{` or `- `"
        raise source.make_error(node.start, "expected a string", hint)
    if node.value is None:
        return ""
    text = node.value if isinstance(node.value, str) else source.text[node.start : node.end]
    return text.strip("\n")
