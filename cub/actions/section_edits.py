"""One instruction file's change: its section put, refreshed or taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from cub.edit.diffs import text_diff
from cub.edit.document import Document
from cub.edit.edited import user_lines
from cub.edit.plan import Edit, Plan, PlanWarning
from cub.edit.sections import Section, digest
from cub.edit.writing import Put, put, remove
from cub.errors import CubError, InternalError
from cub.files import Tree
from cub.project.survey import InstructionFile
from cub.prompt.instructions import Need, recognize, render
from cub.prompt.templates import TemplateSet

Edited = Literal["refuse", "move", "replace"]
BACKUPS = ".cub/backups"


@dataclass(frozen=True, slots=True)
class Editor:
    """How one command writes sections: whence, where to, and what becomes of hand edits."""

    tree: Tree
    templates: TemplateSet
    top: bool = False
    edited: Edited = "refuse"


class _Kept(NamedTuple):
    """Where a person's lines from inside a section go: below it, or into backup files."""

    below: bytes = b""
    plan: Plan = Plan()


def refresh(editor: Editor, file: InstructionFile, need: Need) -> Plan:
    """The section that `file` needs: a new one, or in place of the one it has.

    Raises CubError for a section that a person edited, unless `editor.edited` says what to do.
    """
    version = editor.templates.version
    body = render(editor.templates, version, need)
    section = file.section
    if section and section.is_current(body, version):
        return Plan()
    kept = _keep(editor, file, need, body) if section else _Kept()
    document = file.document or Document(b"", file.real)
    done = _put(document, body, editor, kept.below)
    edit = Edit(
        file.real,
        file.document.data if file.document else None,
        done.document.data,
        _reason(file, version),
        editor.templates.changes(section.version, version) if section else (),
    )
    swallowed = PlanWarning(f"the section goes to the top: {done.swallowed}", file.real)
    return merged([Plan((edit,), (swallowed,) if done.swallowed else ()), kept.plan])


def take_out(editor: Editor, file: InstructionFile, need: Need, stays: bool) -> Plan:
    """`file` without its section; an empty remainder is deleted unless the file `stays`."""
    document, section = file.document, file.section
    if document is None or section is None:
        return Plan()
    kept = _keep(editor, file, need, render(editor.templates, editor.templates.version, need))
    if kept.below:
        data = document.before(section.start) + kept.below + document.after(section.end)
    else:
        data = remove(document, section, top=editor.top)
    if data or stays:
        edit = Edit(file.real, document.data, data, "take the managed section out")
    else:
        edit = Edit(file.real, document.data, None, "delete: it held only the managed section")
    return merged([Plan((edit,)), kept.plan])


def merged(plans: Sequence[Plan]) -> Plan:
    """One plan of several, in order; an edit that several of them need is made once."""
    return Plan(
        tuple(dict.fromkeys(edit for plan in plans for edit in plan.edits)),
        tuple(warning for plan in plans for warning in plan.warnings),
    )


def _put(document: Document, body: str, editor: Editor, below: bytes) -> Put:
    try:
        return put(document, body, editor.templates.version, top=editor.top, below=below)
    except InternalError:
        if not below:
            raise
        raise CubError(
            "the lines inside the section can't be moved: they would change what follows them",
            where=document.path,
            hint=f"move them by hand, or use --edited replace, which keeps them in {BACKUPS}/",
        ) from None


def _reason(file: InstructionFile, version: int) -> str:
    if file.document is None:
        return f"create with the managed section v{version}"
    if file.section is None:
        return f"add the managed section v{version}"
    if file.section.version != version:
        return f"refresh the managed section v{file.section.version} → v{version}"
    return f"refresh the managed section v{version}"


def _keep(editor: Editor, file: InstructionFile, need: Need, body: str) -> _Kept:
    """See to it that no line of a person's inside the section is lost."""
    section = file.section
    assert section is not None
    if section.author == "cub" or digest(b"".join(section.body)) == digest(body.encode()):
        return _Kept()
    if section.author == "unknown":
        return _Kept(plan=_backup(editor, file, section, "no digest tells who wrote it"))
    original = recognize(editor.templates, section.version, section.digest, need)
    if editor.edited == "refuse":
        raise _edited_inside(file, section, original, body)
    if editor.edited == "move":
        return _Kept(below=user_lines(body if original is None else original, section.body))
    return _Kept(plan=_backup(editor, file, section, "a person edited it"))


def backup_path(file: InstructionFile) -> str:
    """Where the section of `file` is kept when it goes: the same bytes, the same name."""
    name = sha256(_old_section(file)).hexdigest()[:16]
    return f"{BACKUPS}/{file.real.replace('/', '-')}.{name}.md"


def _backup(editor: Editor, file: InstructionFile, section: Section, why: str) -> Plan:
    """The old section, whole, in a file named after its content."""
    path, data = backup_path(file), _old_section(file)
    warning = PlanWarning(f"the old section is kept in {path}: {why}", file.real, section.start + 1)
    if editor.tree.read(path) == data:
        return Plan((), (warning,))
    return Plan((Edit(path, None, data, "keep the old section", local=True),), (warning,))


def _old_section(file: InstructionFile) -> bytes:
    assert file.document is not None
    assert file.section is not None
    return b"".join(file.document.lines[file.section.start : file.section.end])


def _edited_inside(
    file: InstructionFile, section: Section, original: str | None, body: str
) -> CubError:
    return CubError(
        "the managed section was edited by hand; nothing was written",
        where=f"{file.real}:{section.start + 1}",
        hint="--edited move puts these lines below the section, "
        f"--edited replace keeps them in {BACKUPS}/ only",
        details=hand_diff(file.real, section, original, body),
    )


def hand_diff(path: str, section: Section, original: str | None, body: str) -> list[str]:
    """What a person changed: against the text that cub once wrote, or else against `body`."""
    against = "as cub wrote it" if original is not None else "as cub would write it now"
    theirs = b"".join(line.rstrip() + b"\n" for line in section.body).strip(b"\n") + b"\n"
    return text_diff(
        body if original is None else original,
        theirs.decode("utf-8", "surrogateescape"),
        path,
        against,
        "as it is",
    )
