"""One instruction file's change: its section put, refreshed or taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, NamedTuple

from cub.edit.document import Document
from cub.edit.line_matching import extract_user_lines
from cub.edit.plan import FileEdit, Plan, PlanWarning
from cub.edit.section_writer import PutResult, put_section, remove_section
from cub.edit.sections import Section, compute_digest
from cub.edit.unified_diff import diff_texts
from cub.errors import CubError, InternalError
from cub.files import FileTree
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import SectionSpec, recognize_section, render_section
from cub.prompt.templates import TemplateSet

EditedPolicy = Literal["refuse", "move", "replace"]
BACKUP_FOLDER = ".cub/backups"


@dataclass(frozen=True, slots=True)
class SectionWriteOptions:
    """How one command writes sections: whence, where to, and what becomes of hand edits."""

    tree: FileTree
    templates: TemplateSet
    at_top: bool = False
    edited_policy: EditedPolicy = "refuse"


class _SavedLines(NamedTuple):
    """Where a person's lines from inside a section go: below it, or into backup files."""

    below: bytes = b""
    plan: Plan = Plan()


def plan_section(options: SectionWriteOptions, file: InstructionFile, spec: SectionSpec) -> Plan:
    """The section that `file` needs: a new one, or in place of the one it has.

    Raises CubError for a section that a person edited, unless `editor.edited` says what to do.
    """
    version = options.templates.version
    body = render_section(options.templates, version, spec)
    section = file.section
    if section and section.is_current(body, version):
        return Plan()
    kept = _save_user_lines(options, file, spec, body) if section else _SavedLines()
    document = file.document or Document(b"", file.real_path)
    done = _put(document, body, options, kept.below)
    edit = FileEdit(
        file.real_path,
        file.document.data if file.document else None,
        done.document.data,
        _reason(file, version),
        options.templates.list_changes(section.version, version) if section else (),
    )
    swallowed = PlanWarning(
        f"the section goes to the top: {done.moved_to_top_reason}", file.real_path
    )
    return merge_plans([Plan((edit,), (swallowed,) if done.moved_to_top_reason else ()), kept.plan])


def plan_section_removal(
    options: SectionWriteOptions, file: InstructionFile, spec: SectionSpec, stays: bool
) -> Plan:
    """`file` without its section; an empty remainder is deleted unless the file `stays`."""
    document, section = file.document, file.section
    if document is None or section is None:
        return Plan()
    kept = _save_user_lines(
        options, file, spec, render_section(options.templates, options.templates.version, spec)
    )
    if kept.below:
        data = (
            document.get_bytes_before(section.start)
            + kept.below
            + document.get_bytes_from(section.end)
        )
    else:
        data = remove_section(document, section, top=options.at_top)
    if data or stays:
        edit = FileEdit(file.real_path, document.data, data, "take the managed section out")
    else:
        edit = FileEdit(
            file.real_path, document.data, None, "delete: it held only the managed section"
        )
    return merge_plans([Plan((edit,)), kept.plan])


def merge_plans(plans: Sequence[Plan]) -> Plan:
    """One plan of several, in order; an edit that several of them need is made once."""
    return Plan(
        tuple(dict.fromkeys(edit for plan in plans for edit in plan.edits)),
        tuple(warning for plan in plans for warning in plan.warnings),
    )


def _put(document: Document, body: str, options: SectionWriteOptions, below: bytes) -> PutResult:
    try:
        return put_section(
            document, body, options.templates.version, top=options.at_top, lines_below=below
        )
    except InternalError:
        if not below:
            raise
        raise CubError(
            "the lines inside the section can't be moved: they would change what follows them",
            where=document.path,
            hint="move them by hand, or use --edited replace, "
            f"which keeps them in {BACKUP_FOLDER}/",
        ) from None


def _reason(file: InstructionFile, version: int) -> str:
    if file.document is None:
        return f"create with the managed section v{version}"
    if file.section is None:
        return f"add the managed section v{version}"
    if file.section.version != version:
        return f"refresh the managed section v{file.section.version} → v{version}"
    return f"refresh the managed section v{version}"


def _save_user_lines(
    options: SectionWriteOptions, file: InstructionFile, spec: SectionSpec, body: str
) -> _SavedLines:
    """See to it that no line of a person's inside the section is lost."""
    section = file.section
    assert section is not None
    if section.author == "cub" or compute_digest(b"".join(section.body)) == compute_digest(
        body.encode()
    ):
        return _SavedLines()
    if section.author == "unknown":
        return _SavedLines(plan=_backup(options, file, section, "no digest tells who wrote it"))
    original = recognize_section(options.templates, section.version, section.digest, spec)
    if options.edited_policy == "refuse":
        raise _edited_inside(file, section, original, body)
    if options.edited_policy == "move":
        return _SavedLines(
            below=extract_user_lines(body if original is None else original, section.body)
        )
    return _SavedLines(plan=_backup(options, file, section, "a person edited it"))


def make_backup_path(file: InstructionFile) -> str:
    """Where the section of `file` is kept when it goes: the same bytes, the same name."""
    name = sha256(_old_section(file)).hexdigest()[:16]
    return f"{BACKUP_FOLDER}/{file.real_path.replace('/', '-')}.{name}.md"


def _backup(
    options: SectionWriteOptions, file: InstructionFile, section: Section, why: str
) -> Plan:
    """The old section, whole, in a file named after its content."""
    path, data = make_backup_path(file), _old_section(file)
    warning = PlanWarning(
        f"the old section is kept in {path}: {why}", file.real_path, section.start + 1
    )
    if options.tree.read(path) == data:
        return Plan((), (warning,))
    return Plan((FileEdit(path, None, data, "keep the old section", is_local=True),), (warning,))


def _old_section(file: InstructionFile) -> bytes:
    assert file.document is not None
    assert file.section is not None
    return b"".join(file.document.lines[file.section.start : file.section.end])


def _edited_inside(
    file: InstructionFile, section: Section, original: str | None, body: str
) -> CubError:
    return CubError(
        "the managed section was edited by hand; nothing was written",
        where=f"{file.real_path}:{section.start + 1}",
        hint="--edited move puts these lines below the section, "
        f"--edited replace keeps them in {BACKUP_FOLDER}/ only",
        details=diff_hand_edits(file.real_path, section, original, body),
    )


def diff_hand_edits(path: str, section: Section, original: str | None, body: str) -> list[str]:
    """What a person changed: against the text that cub once wrote, or else against `body`."""
    against = "as cub wrote it" if original is not None else "as cub would write it now"
    theirs = b"".join(line.rstrip() + b"\n" for line in section.body).strip(b"\n") + b"\n"
    return diff_texts(
        body if original is None else original,
        theirs.decode("utf-8", "surrogateescape"),
        path,
        against,
        "as it is",
    )
