"""A task as a form to be edited, and the form's changes applied.

The text of a form: YAML that a person likes to edit, and that reads back as it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cub.actions.tasks.stores import Stores, TaskResult
from cub.actions.tasks.task_edits import put_edited_record
from cub.actions.tasks.task_fields import TaskFields, check_text
from cub.config_edit.nodes import ConfigNode, SourceText, decode_source, parse_scalar
from cub.config_edit.yaml_text import parse_yaml
from cub.errors import CubError
from cub.store.jsonl import Record

_HEAD = """\
# The task {key}. Save and close to change it; an unchanged form changes nothing.
# priority is 0 to 4, and 0 comes first; type is task, feature, bug, epic or chore.
"""


def render_form(record: Record) -> str:
    """The fields that a person may edit."""
    keys = {**dict.fromkeys((*FORM_TEXTS, *FORM_LISTS)), "type": "issue_type"}
    fields = {key: record.get(own or key) for key, own in keys.items()}
    return _HEAD.format(key=record["id"]) + dump_form_fields(fields)


def apply_form(stores: Stores, task_id: str, before: str, after: str, shown: str) -> TaskResult:
    """Change a task as its form says. CubError with `shown`, line and column for a wrong one.

    Only fields that differ from the form as it was given out count: what somebody else changed
    in the meantime stays.
    """
    old, new = parse_form_fields(before, shown), parse_form_fields(after, shown)
    values = {name: value for name, value in new.items() if value != old.get(name)}
    with stores.transaction() as work:
        record = work.tasks.read_record(work.tasks.find_id(task_id))
        fields = _draft(values).to_record_values(work.tasks)
        if values.get("parent") == "":
            fields["parent"] = None
        if "notes" in values:
            fields["notes"] = check_text(values["notes"], "the text of the notes") or None
        put_edited_record(work, record, fields)
    return work.result


def _draft(values: dict[str, Any]) -> TaskFields:
    """The fields that differ; `notes` is none that a command line sets."""
    names = {**FORM_LISTS, **dict.fromkeys(FORM_TEXTS)}
    return TaskFields(**{names[key] or key: values[key] for key in values if key != "notes"})


FORM_TEXTS = ("title", "type", "priority", "parent", "description", "notes")
FORM_LISTS = {
    "labels": "labels",
    "depends_on": "depends_on",
    "acceptance_criteria": "accept",
    "checks": "checks",
}
_ORDER = (*FORM_TEXTS[:4], *FORM_LISTS, *FORM_TEXTS[4:])
_MOST = 1024 * 1024  # bytes; a description may have 64 KiB, and so may the notes
_PLAIN = re.compile(r"[^\W_](?:[\w ,./()'&+-]*[\w./)])?")
_HALF = re.compile("[\ud800-\udfff]")


def dump_form_fields(fields: Mapping[str, Any]) -> str:
    """The fields as YAML. Bytes that are no text are shown as U+FFFD."""
    said = {
        key: fields.get(key) or ([] if key in FORM_LISTS else fields.get(key)) for key in _ORDER
    }
    return "".join(f"{key}:{_value(value)}\n" for key, value in said.items())


def parse_form_fields(text: str, shown: str) -> dict[str, Any]:
    """The fields of a form. CubError with `shown`, line and column for what is none."""
    source = decode_source(text.encode("utf-8", "surrogateescape"), shown, _MOST)
    root = parse_yaml(source)
    if root is None or root.kind != "mapping":
        raise CubError("this is no form of a task", where=shown, hint="nothing was changed")
    found: dict[str, Any] = {}
    for key, entry in root.collect_entries().items():
        if key not in _ORDER:
            raise source.make_error(entry.key.start, f"unknown field {key!r}", ", ".join(_ORDER))
        found[key] = (_list if key in FORM_LISTS else _text)(source, entry.value)
    return found


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"\n  - {_scalar(str(item))}" for item in value) or " []"
    said = _HALF.sub("\ufffd", "" if value is None else str(value))
    lines = said.strip("\n").split("\n")
    if len(lines) > 1 and all(line.replace("\t", "").isprintable() for line in lines):
        # Without a number, YAML takes the blanks of the first line for the depth of the block.
        depth = "2" if lines[0][:1] in (" ", "\t") else ""
        return "\n  ".join((f" |{depth}", *lines)).replace("\n  \n", "\n\n")
    return f" {_scalar(said)}".rstrip()


def _scalar(text: str) -> str:
    """Plain where nothing in it means anything to YAML, else in quotes."""
    if _PLAIN.fullmatch(text) and (parse_scalar(text) == text or text.isdecimal()):
        return text
    return _quote(_HALF.sub("\ufffd", text)) if text else ""


def _quote(text: str) -> str:
    said = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in said)


def _list(source: SourceText, node: ConfigNode) -> list[str]:
    if node.kind == "list":
        return [_text(source, item) for item in node.items]
    if node.kind == "scalar" and node.value is None:
        return []
    raise source.make_error(node.start, "here a list is expected", "write `- ` before each item")


def _text(source: SourceText, node: ConfigNode) -> str:
    """A text as it is written: 1.10 is no number here."""
    if node.kind != "scalar":
        hint = "put a text that has `: ` in it, or begins with `[`, `{` or `- `, in quotes"
        raise source.make_error(node.start, "here a text is expected", hint)
    if node.value is None:
        return ""
    said = node.value if isinstance(node.value, str) else source.text[node.start : node.end]
    return said.strip("\n")
