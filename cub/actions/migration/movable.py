"""Which files a migration may let go, where they go to, and what goes with them."""

from __future__ import annotations

from collections.abc import Sequence

from cub.actions.migration.draft import Draft
from cub.actions.own_files import OWN_FILES
from cub.project.survey import look
from cub.project.targets import TARGETS

UNREAD = "cub does not read it: move what you need of it elsewhere, then delete it"


def follow_instruction_files(draft: Draft) -> None:
    """Find what instruction files of the root lead to: without it, their readers would miss it.

    The same goes for links under the names of cub's own files.
    """
    names = (*(target.path for target in TARGETS), *draft.project.config.targets)
    for path, file in look(draft.tree, dict.fromkeys(names)).items():
        if file.exists and (real := draft.leads(path)):
            draft.linked.setdefault(real, path)
        for name in sorted(file.imported if "/" not in path else ()):
            draft.imported.setdefault(name, path)
            draft.imported.setdefault(draft.leads(name) or name, path)
    for own in OWN_FILES:
        if draft.stands(own.path) and (real := draft.leads(own.path)):
            draft.linked.setdefault(real, own.path)


def movable(path: str, draft: Draft, *, even_imported: bool = False) -> bytes | None:
    """The bytes of a file that may go: it is no link, and no instruction file leads to it."""
    if not draft.stands(path) or draft.leads(path):
        return None
    own = draft.own(path)
    if own in draft.linked:
        draft.warn(path, f"left: {draft.linked[own]} is a link to it")
    elif own in draft.imported and not even_imported:
        draft.warn(path, f"left: {draft.imported[own]} imports it")
    else:
        return draft.read(path)
    return None


def move_to(path: str, data: bytes, to: str, draft: Draft) -> bool:
    """Move a file, unless its new name is taken by other bytes; returns whether it moved."""
    there = draft.read(to)
    if there is None and draft.stands(to):
        return False  # a warning has said why it can't be read
    if there is not None and (there != data or draft.leads(to)):
        draft.warn(path, f"left: {to} is there already", UNREAD)
        return False
    if there is None:
        draft.write(to, data, f"the text of {path}")
    draft.write(path, None, f"kept as {to}")
    return True


def drop_links(paths: Sequence[str], draft: Draft) -> None:
    """Links under these names go with the files that they lead to, and only then."""
    for path in paths:
        real = draft.leads(path) if draft.stands(path) else None
        if real and draft.goes(real):
            draft.unlink(path, f"a link to {real}, which goes")
        elif real and not (real in paths and draft.stands(real)):
            draft.warn(path, f"left: a link to {real}")
