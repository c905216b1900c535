"""Reviewing what a test committed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cub.actions.review.review import FileReview, Review, review_range
from cub.actions.review.section_verdict import SectionReview
from cub.git.commit_tree import resolve_range
from cub.git.objects import ObjectReader
from cub.project.config import CONFIG_FILE
from cub.prompt.templates import TemplateSet
from tests.conftest import git

MINE = b"- Ask Ada before you touch the oven.\n"


def commit(root: Path) -> str:
    """Commit the work tree as it stands."""
    git(root, "-c", "core.autocrlf=false", "add", "-A")
    git(root, "commit", "-qm", "x", "--allow-empty")
    return git(root, "rev-parse", "HEAD").strip()


def compared(
    root: Path,
    base: str,
    head: str = "HEAD",
    *,
    prefix: str = "",
    templates: TemplateSet | None = None,
) -> Review:
    """The review of two commits of a repository at `root`."""
    with ObjectReader(root) as objects:
        ends = resolve_range(objects, f"{base}..{head}")
        return review_range(objects, ends, root=root / prefix, prefix=prefix, templates=templates)


def since(root: Path, base: str, templates: TemplateSet | None = None) -> dict[str, FileReview]:
    """The files of a review of everything since `base`, the work tree committed."""
    commit(root)
    return {file.path: file for file in compared(root, base, templates=templates).files}


def get_section(file: FileReview) -> SectionReview:
    """The review of cub's part of a file, which has to be in it."""
    assert file.section is not None
    return file.section


def rewrite(file: Path, edit: Callable[[bytes], bytes]) -> None:
    """Edit a file's bytes."""
    file.write_bytes(edit(file.read_bytes()))


def verdicts(files: dict[str, FileReview]) -> dict[str, str | None]:
    """The verdict on each file's part of cub's; a configuration has no such part."""
    return {
        path: file.section.verdict if file.section else None
        for path, file in files.items()
        if not path.endswith(CONFIG_FILE)
    }


def marked(diff: tuple[str, ...]) -> list[str]:
    """The lines of a diff that were added or removed."""
    return [line for line in diff[2:] if line[:1] in "+-" and line]
