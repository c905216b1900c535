"""What a person should know about files that a plan leaves alone."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from cub import git
from cub.actions.own_files import CONSTITUTION, CURSOR_RULE, MAP, local_files
from cub.actions.view import View
from cub.edit.owned import unseal
from cub.edit.plan import PlanWarning
from cub.files import Missing
from cub.project.project import Project
from cub.project.survey import InstructionFile, distinct
from cub.project.targets import AGENTS, is_nested, is_whole, target_of
from cub.prompt.instructions import recognize


def missing(seen: View) -> Iterator[PlanWarning]:
    """Sections and files that a person deleted: `update` reports them, `init` restores them."""
    hint = "`cub init` puts it back; to go on without it, set `targets` in .cub/config.yaml"
    for path in seen.needs:
        file = seen.files[path]
        if file.missing:
            yield _missing_here(file.missing)
        elif not file.exists:
            yield PlanWarning("this file is gone", path, hint=hint)
        elif file.section is None and not is_whole(path):
            yield PlanWarning("the managed section is gone", file.real, hint=hint)


def lost_constitution(seen: View) -> Iterator[PlanWarning]:
    """A constitution that is gone, as long as a section still has something of it."""
    if not seen.known.constitution and any(_has_constitution(seen, path) for path in seen.needs):
        message = "this file is gone, and the sections refer to it no longer"
        hint = "`cub init` installs cub's own text again; git may have yours"
        yield PlanWarning(message, CONSTITUTION, hint=hint)


def _has_constitution(seen: View, path: str) -> bool:
    """Whether a file refers to the constitution, or has its text in a section of cub's own."""
    file, need = seen.files[path], seen.needs[path]
    if file.document and is_whole(path):
        return CONSTITUTION.encode() in file.document.data
    if file.section is None or file.section_says(CONSTITUTION):
        return file.section is not None
    section = file.section
    is_inlined = need.shared and "constitution" in seen.project.config.inline
    if not is_inlined or section.author != "cub":
        return False
    return recognize(seen.templates, section.version, section.digest, need) is None


def written_anew(seen: View, paths: Iterable[str]) -> Iterator[PlanWarning]:
    """Files that `init` creates, the instruction files and `paths`, although git has them."""
    for path in dict.fromkeys((*seen.needs, *paths)):
        file = seen.files.get(path)
        missing = file.missing if file else seen.tree.missing(path)
        if missing and not missing.is_withheld:
            message = "git has this file, deleted here: a new one takes its place"
            yield PlanWarning(message, path, hint=missing.hint)


def _missing_here(missing: Missing) -> PlanWarning:
    if missing.is_withheld:
        message = f"not refreshed: git keeps it out of this checkout ({missing.why})"
        return PlanWarning(message, missing.path, hint=missing.hint)
    hint = f"{missing.hint}; `cub init` writes a new one; to go on without it, "
    hint += "set `targets` in .cub/config.yaml"
    return PlanWarning("this file is gone", missing.path, hint=hint)


def oddities(seen: View) -> Iterator[PlanWarning]:
    """Names of another case, targets without a folder, and sections of what is no target."""
    for path, file in seen.files.items():
        if file.misnamed and path in (*seen.targets, AGENTS.path):
            yield PlanWarning(
                f"left alone: on some disks it is the same file as {path}",
                posixpath.join(posixpath.dirname(path), file.misnamed),
                hint=f"rename it to {posixpath.basename(path)}, then run `cub init`",
            )
        elif file.homeless and path in seen.targets and is_nested(path):
            hint = "take it out of `targets` in .cub/config.yaml"
            gone = PlanWarning("its folder is gone", path, hint=hint)
            yield _missing_here(file.missing) if file.missing else gone
    for file in leftover(seen):
        hint = "delete the section, or add the file to `targets` in .cub/config.yaml"
        yield PlanWarning("this section is not kept up to date", file.path, None, hint)
    rule = seen.files[CURSOR_RULE.path].document
    if CURSOR_RULE.path not in seen.needs and rule and unseal(rule.data):
        hint = "delete it, or add it to `targets` in .cub/config.yaml"
        yield PlanWarning("this file is not kept up to date", CURSOR_RULE.path, None, hint)
    yield from _twice(seen)


def _twice(seen: View) -> Iterator[PlanWarning]:
    """Clients that read AGENTS.md beside a file of their own get the same text in both."""
    for path in seen.needs:
        target, document = target_of(path), seen.files[path].document
        if is_whole(path) and document and not unseal(document.data):
            continue  # somebody else's file of that name
        if target and target.also and AGENTS.path in seen.needs:
            message = f"{target.also} reads AGENTS.md too, and gets the same text twice"
            hint = f"take {path} out of `targets`, unless some of its readers know only this file"
            yield PlanWarning(message, path, hint=hint)


def leftover(seen: View) -> list[InstructionFile]:
    """Files with a section that no target asks for."""
    kept = {seen.files[path].key for path in seen.needs}
    return [f for f in distinct(seen.files.values()) if f.section and f.key not in kept]


def still_tracked(project: Project) -> Iterator[PlanWarning]:
    """Files that are to stay local, and that git goes on to track because it does so already."""
    local = local_files(project.config)
    for path in () if project.committed else git.tracked_among(project.root, [*local]):
        message = f"git tracks this file, so `{local[path]}: false` does not keep it out of commits"
        yield PlanWarning(f"{message} yet", path, hint=f"`git rm --cached {path}`, then commit")


def hidden(seen: View) -> Iterator[PlanWarning]:
    """A .cub/ that git ignores leaves other checkouts with references to nothing."""
    lacking = "other checkouts lack what the sections refer to"
    if seen.project.ignores(CONSTITUTION):
        hint = "take .cub out of your .gitignore; cub brings one for its local files"
        yield PlanWarning(f"git ignores this folder: {lacking}", ".cub", hint=hint)
    elif seen.known.map and seen.project.config.map_commit and seen.project.ignores(MAP):
        hint = "take it out of your .gitignore, or set `map: {commit: false}`"
        yield PlanWarning(f"git ignores this file: {lacking}", MAP, hint=hint)
