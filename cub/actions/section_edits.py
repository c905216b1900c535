"""Plan one instruction file's change: its section added, refreshed, or removed."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from cub.actions.project_state import ProjectState
from cub.edit.digests import compute_digest
from cub.edit.document import Document
from cub.edit.plan import EditedPolicy, FileEdit, Plan, PlanWarning
from cub.edit.section_writer import put_section, remove_section
from cub.edit.sections import Section
from cub.edit.unified_diff import diff_texts
from cub.edit.user_lines import extract_user_lines
from cub.errors import CubError, InternalError
from cub.files.file_tree import FileTree
from cub.project.instruction_files import InstructionFile
from cub.prompt.section_text import recognize_section

BACKUP_FOLDER = ".cub/backups"


class _SavedLines(NamedTuple):
    """Hold the user's lines to put below the section, or the plan of a backup."""

    below: bytes = b""
    plan: Plan = Plan()


def plan_section(
    state: ProjectState, file: InstructionFile, edited_policy: EditedPolicy = "refuse"
) -> Plan:
    """Plan the section that `file` needs: a new one, or in place of the one it has.

    Raises CubError for a section that a user edited, unless the policy says what to do.
    """
    version, section = state.templates.version, file.section
    body = state.render_spec(state.get_spec(file))
    if section and section.is_current(body, version):
        return Plan()
    saved = _save_user_lines(state, file, section, edited_policy) if section else _SavedLines()
    document = file.document or Document(b"", file.real_path)
    try:
        result = put_section(
            document, body, version, top=state.adds_at_top, lines_below=saved.below
        )
    except InternalError:
        if not saved.below:
            raise
        raise CubError(
            "the lines inside the section cannot be moved: the text after them would change",
            where=document.path,
            hint="move them yourself, or pass `--edited replace` to keep them only in "
            f"{BACKUP_FOLDER}/",
        ) from None
    before = file.document.data if file.document else None
    changes = state.templates.list_changes(section.version, version) if section else ()
    reason = _describe_reason(file, version)
    edit = FileEdit(file.real_path, before, result.document.data, reason, changes)
    message = f"the section is added at the top: {result.moved_to_top_reason}"
    warnings = (PlanWarning(message, file.real_path),) if result.moved_to_top_reason else ()
    return merge_plans([Plan((edit,), warnings), saved.plan])


def plan_section_removal(
    state: ProjectState, file: InstructionFile, edited_policy: EditedPolicy, *, stays: bool
) -> Plan:
    """Plan `file` without its section; an empty remainder is deleted unless the file `stays`."""
    document, section = file.document, file.section
    if document is None or section is None:
        return Plan()
    saved = _save_user_lines(state, file, section, edited_policy)
    if saved.below:
        data = document.get_bytes_before(section.start) + saved.below
        data += document.get_bytes_from(section.end)
    else:
        data = remove_section(document, section, top=state.adds_at_top)
    if data or stays:
        edit = FileEdit(file.real_path, document.data, data, "remove the managed section")
    else:
        reason = "delete: it held only the managed section"
        edit = FileEdit(file.real_path, document.data, None, reason)
    return merge_plans([Plan((edit,)), saved.plan])


def merge_plans(plans: Sequence[Plan]) -> Plan:
    """Merge plans in order; an edit that several of them need is made once."""
    return Plan(
        tuple(dict.fromkeys(edit for plan in plans for edit in plan.edits)),
        tuple(warning for plan in plans for warning in plan.warnings),
    )


def _describe_reason(file: InstructionFile, version: int) -> str:
    if file.document is None:
        return f"create with the managed section v{version}"
    if file.section is None:
        return f"add the managed section v{version}"
    step = f"v{file.section.version} → " if file.section.version != version else ""
    return f"refresh the managed section {step}v{version}"


def _save_user_lines(
    state: ProjectState, file: InstructionFile, section: Section, edited_policy: EditedPolicy
) -> _SavedLines:
    spec, digest = state.get_spec(file), compute_digest(b"".join(section.body))
    body = state.render_spec(spec)
    if section.author == "cub" or digest == compute_digest(body.encode()):
        return _SavedLines()
    if section.author == "unknown":
        return _SavedLines(
            plan=_plan_section_backup(state, file, "without a digest, its author is unknown")
        )
    original = recognize_section(state.templates, section.version, section.digest, spec)
    if original is not None and digest == compute_digest(original.encode()):
        return _SavedLines()  # wrapped, and its recorded digest is an older one, of lines
    if edited_policy == "refuse":
        raise CubError(
            "the managed section was edited manually; nothing was written",
            where=f"{file.real_path}:{section.start + 1}",
            hint="pass `--edited move` to move these lines below the section, or "
            f"`--edited replace` to keep them only in {BACKUP_FOLDER}/",
            details=diff_hand_edits(file.real_path, section, original, body),
        )
    if edited_policy == "move":
        return _SavedLines(extract_user_lines(body if original is None else original, section.body))
    return _SavedLines(plan=_plan_section_backup(state, file, "it was edited manually"))


def make_backup_path(file: InstructionFile) -> str:
    """Return where the section of `file` is kept when it goes."""
    return make_backup_name(file.real_path, _get_old_section(file))


def make_backup_name(path: str, data: bytes) -> str:
    """Return where `data` of a file is kept: the same bytes, the same name."""
    name = sha256(data).hexdigest()[:16]
    return f"{BACKUP_FOLDER}/{path.replace('/', '-')}.{name}.md"


def _plan_section_backup(state: ProjectState, file: InstructionFile, why: str) -> Plan:
    path, line = make_backup_path(file), file.section.start + 1 if file.section else None
    warning = PlanWarning(f"the old section is kept in {path}: {why}", file.real_path, line)
    data = _get_old_section(file)
    return plan_backup(state.tree, path, data, "keep the old section", warning)


def plan_backup(tree: FileTree, path: str, data: bytes, reason: str, warning: PlanWarning) -> Plan:
    """Plan a local file with `data`, unless it is there already, and say so in `warning`."""
    is_there = tree.read(path) == data
    edits = () if is_there else (FileEdit(path, None, data, reason, is_local=True),)
    return Plan(edits, (warning,))


def _get_old_section(file: InstructionFile) -> bytes:
    assert file.document is not None
    assert file.section is not None
    return b"".join(file.document.lines[file.section.start : file.section.end])


def diff_hand_edits(path: str, section: Section, original: str | None, body: str) -> list[str]:
    """Diff a user's changes against the text that cub once wrote, or if it is unknown `body`."""
    reference = "as cub wrote it" if original is not None else "as cub would write it now"
    current = b"".join(line.rstrip() + b"\n" for line in section.body).strip(b"\n") + b"\n"
    text = current.decode("utf-8", "surrogateescape")
    return diff_texts(body if original is None else original, text, path, reference, "as it is")
