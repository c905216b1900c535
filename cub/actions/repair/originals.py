"""What cub once wrote into a section that is not as it was: known again, or found in git."""

from __future__ import annotations

from collections.abc import Iterator

from cub.actions.view import View, after
from cub.edit.document import Document, lf_text
from cub.edit.repair.choice import section_in
from cub.edit.repair.resolve import Recognize
from cub.edit.sections import Section, digest
from cub.git import unmerged
from cub.prompt.instructions import Need, recognize


def recognizer(seen: View, path: str, real: str) -> Recognize:
    """Tells a section's original: from the templates, or else from the sides that git has kept.

    Where the digest line was changed or lost, the body itself may be what cub once wrote.
    """
    need = after(seen, {real: b""}).needs.get(path, Need("agents", claude=True))
    staged: dict[str, str] | None = None

    def original(section: Section) -> str | None:
        nonlocal staged
        for recorded in filter(None, (section.digest, digest(b"".join(section.body)))):
            body = recognize(seen.templates, section.version, recorded, need)
            if body is not None:
                return body
        if staged is None:
            staged = dict(_staged(seen, real))
        return staged.get(section.digest)

    return original


def _staged(seen: View, real: str) -> Iterator[tuple[str, str]]:
    """The bodies, by digest, of cub's own sections in what an unfinished merge began with."""
    for data in unmerged(seen.root, real):
        section = section_in(Document(data))
        if section and section.author == "cub":
            yield section.digest, lf_text(b"".join(section.body))
