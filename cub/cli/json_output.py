"""Build the JSON that commands print; docs/reference/json.md describes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cub.cli import output
from cub.edit.plan import Plan, PlanWarning
from cub.errors import CombinedError, CubError

if TYPE_CHECKING:
    from cub.actions.agents.agent_proof import AgentProof
    from cub.actions.agents.agent_survey import AgentOverview
    from cub.actions.agents.text_marks import Arrival
    from cub.actions.repair import RepairReport
    from cub.actions.review.review import FileReview, Review
    from cub.actions.tasks.import_export import ExportResult, ImportResult
    from cub.actions.tasks.task_queries import TaskDetails, TaskList, TaskStats
    from cub.store.jsonl import Record


JsonObject = dict[str, Any]


def plan_to_json(plan: Plan, root: Path) -> JsonObject:
    """Return a plan: one object for each file that would change."""
    changes = [
        {
            "path": edit.path,
            "action": edit.kind,
            "reason": edit.reason,
            "added": edit.changed_line_counts[0],
            "removed": edit.changed_line_counts[1],
            "local": edit.is_local,
        }
        for edit in plan.edits
    ]
    return make_result(root, plan.warnings, changes=changes)


def agents_to_json(
    overviews: Iterable[AgentOverview], warnings: Iterable[PlanWarning], root: Path
) -> JsonObject:
    """Return the table of `cub agents`: one object for each agent."""
    rows = [
        {
            "name": overview.agent.name,
            "title": overview.agent.title,
            "installed": not overview.agent.problem,
            "version": overview.agent.version or None,
            "oldest_version": overview.agent.harness.facts.oldest_version or None,
            "install": overview.agent.harness.installation or None,
            "tokens": overview.tokens if overview.sources else None,
            "fix": overview.fix or None,
            "sources": [
                {
                    "label": source.label,
                    "path": source.path,
                    "tokens": source.tokens,
                    "times": source.times,
                    "cut": source.is_incomplete,
                }
                for source in overview.sources
            ],
        }
        for overview in overviews
    ]
    return make_result(root, warnings, agents=rows)


def proofs_to_json(
    proofs: Sequence[AgentProof], warnings: Iterable[PlanWarning], root: Path
) -> JsonObject:
    """Return what `cub agents prove` has seen: one object for each agent."""
    rows = [
        {
            "name": proof.name,
            "title": proof.title,
            "version": proof.version or None,
            "ok": proof.is_kept,
            "problem": proof.problem or None,
            "after": proof.after or None,
            "tested": proof.is_tested,
            "offline": proof.is_offline,
            "left_out": list(proof.left_out),
            "unread": list(proof.unread),
            "unused": list(proof.unused),
            "sources": [
                {
                    "label": source.label,
                    "path": source.path,
                    "tokens": source.tokens,
                    "interactive": _arrival_to_json(source.interactive),
                    "run": _arrival_to_json(source.run),
                    "promised": source.is_promised,
                }
                for source in proof.sources
            ],
        }
        for proof in proofs
    ]
    return make_result(root, warnings, ok=all(proof.is_kept for proof in proofs), agents=rows)


def _arrival_to_json(arrival: Arrival | None) -> JsonObject | None:
    if arrival is None:
        return None
    return {"times": arrival.times, "cut": arrival.is_cut, "line": arrival.line or None}


def review_to_json(review: Review, root: Path) -> JsonObject:
    """Return a review: one object for each file, and for each change to what executes."""
    ends = review.commit_range
    return make_result(
        root,
        review.warnings,
        base={"name": ends.base_name, "commit": ends.base},
        head={"name": ends.head_name, "commit": ends.head},
        touched=review.has_hand_edits,
        files=[_file_review_to_json(file) for file in review.files],
        executes=[asdict(change) for change in review.executable_changes],
    )


def _file_review_to_json(file: FileReview) -> JsonObject:
    section = None
    if file.section:
        section = {**asdict(file.section), "touched": file.section.needs_attention}
    return {
        "path": file.path,
        "action": file.kind,
        "section": section,
        "own": {"diff": file.own_diff},
        "mode": file.mode,
    }


def repair_to_json(findings: RepairReport, root: Path) -> JsonObject:
    """Return what `cub repair` offers: one object for each choice and each broken file."""
    choices = [
        {
            "n": choice.n,
            "path": choice.edit.path,
            "title": choice.edit.reason,
            "why": choice.why,
            "diff": list(choice.edit.format_diff()),
            "added": choice.edit.changed_line_counts[0],
            "removed": choice.edit.changed_line_counts[1],
        }
        for choice in findings.choices
    ]
    faults = [_error_object(file.fault, CubError.exit_code) for file in findings.broken_files]
    return make_result(root, findings.warnings, choices=choices, faults=faults)


def error_to_json(error: CubError, code: int) -> JsonObject:
    """Return an error; if there are several, `errors` has them all."""
    errors = error.errors if isinstance(error, CombinedError) else (error,)
    objects = [_error_object(item, code) for item in errors]
    return {"v": 1, "error": objects[0], "errors": objects}


def _error_object(error: CubError, code: int) -> JsonObject:
    return {
        "message": error.message,
        "where": error.where,
        "hint": error.hint,
        "code": code,
        "details": list(error.details),
    }


def warnings_to_json(warnings: Iterable[PlanWarning]) -> list[JsonObject]:
    """Return warnings, each with its place and its hint."""
    return [
        {"path": w.path, "line": w.line, "message": w.message, "hint": w.hint} for w in warnings
    ]


def print_tasks_json(
    records: Iterable[Record], root: Path, warnings: Iterable[PlanWarning]
) -> None:
    """Print tasks in order, each with all keys."""
    tree = make_result(root, warnings, tasks=[])
    output.print_json_rows(tree, "tasks", map(task_to_json, records))


def print_task_list_json(task_list: TaskList, root: Path) -> None:
    """Print tasks in order, each with all keys and what blocks it."""
    tree = make_result(root, task_list.warnings, tasks=[])
    pairs = zip(task_list.summaries, task_list.iter_records(), strict=True)
    rows = (
        {**task_to_json(record), "waits_for": task_list.list_blockers_of(row)}
        for row, record in pairs
    )
    output.print_json_rows(tree, "tasks", rows)


def task_to_json(record: Record) -> JsonObject:
    """Return a task with all of cub's keys, set or not, then those of its source."""
    from cub.store.task_schema import LAST_IMPORT, LIST_KEYS, TASK_KEYS

    empty: dict[str, Any] = {key: [] if key in LIST_KEYS else None for key in TASK_KEYS}
    return {k: v for k, v in {**empty, **record}.items() if k != LAST_IMPORT}


def task_detail_to_json(detail: TaskDetails, root: Path) -> JsonObject:
    """Return one task with its surroundings."""
    around = {
        "waits_for": detail.waits_for,
        "blocks": detail.blocks,
        "children": [child["id"] for child in detail.children],
    }
    return make_result(root, detail.warnings, task={**task_to_json(detail.record), **around})


def task_stats_to_json(stats: TaskStats, root: Path) -> JsonObject:
    """Return the counts of `cub task stats`."""
    return make_result(
        root,
        stats.warnings,
        statuses=stats.statuses,
        types=stats.types,
        priorities={f"P{number}": count for number, count in stats.priorities.items()},
        ready=stats.ready,
        blocked=stats.blocked,
        epics={key: {"closed": c, "tasks": n} for key, (c, n) in stats.epics.items()},
    )


def import_result_to_json(result: ImportResult, root: Path) -> JsonObject:
    """Return what `cub task import` did, or would do, with tasks by their ids."""
    return make_result(
        root,
        result.task_result.warnings,
        format=result.format,
        added=[record["id"] for record in result.added],
        changed=[record["id"] for record in result.changed],
        unchanged=result.unchanged,
        conflicts=[conflict._asdict() for conflict in result.conflicts],
        notes=result.task_result.messages,
    )


def export_result_to_json(
    result: ExportResult, format_name: str, file: Path | None, root: Path
) -> JsonObject:
    """Return the result of `cub task export`: the file written, or else the text."""
    return make_result(
        root,
        result.warnings,
        format=format_name,
        tasks=result.total,
        output=None if file is None else file.as_posix(),
        data=result.data.decode("utf-8", "surrogateescape") if file is None else None,
    )


def make_result(root: Path, warnings: Iterable[PlanWarning], **fields: Any) -> JsonObject:
    """Return a result of version 1: the project, these fields in their order, and warnings."""
    tree = {"v": 1, "root": root.as_posix(), **fields}
    return {**tree, "warnings": warnings_to_json(warnings)}
