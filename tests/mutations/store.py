"""Mutations of cub/store: tasks, the ledger, and how branches of them are merged."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

STORE = list_mutations(
    {
        "cub/store/record_merge.py": {
            "the earlier value of a field wins a merge": (
                "best = max(one, two, key=partial(_rank_value, key=key))",
                "best = min(one, two, key=partial(_rank_value, key=key))",
            ),
            "the first change of a status wins a merge": (
                "status = max(one, two, key=_merge_status)",
                "status = min(one, two, key=_merge_status)",
            ),
            "a merge gives a task the lower revision": ('{"rev": max(revs)}', '{"rev": min(revs)}'),
            "a merge takes the later creation": (
                '{"created_at": min(created, key=_make_time_key)}',
                '{"created_at": max(created, key=_make_time_key)}',
                "tests/store/test_record_merge.py",
                "tests/store/test_git_merges.py",
            ),
            "a dependency that was removed comes back by a merge": (
                "names = [name for name, (_, present) in best.items() if present]",
                "names = [*best]",
            ),
            "a status that somebody set last reopens a closed task": (
                "return when, closed, stamp,",
                "return stamp, closed, when,",
            ),
            "a foreign record counts as unchanged since its creation": (
                'base = created if isinstance(stamps, dict) else record.get("updated_at", created)',
                "base = created",
            ),
            "an element that was taken out of a set is forgotten": (
                "names = {**present, **removed}",
                "names = present",
            ),
            "a change does not count up the revision": (
                '"rev": _get_revision(record) + 1',
                '"rev": _get_revision(record)',
            ),
            "only what came into a set gets a time": (
                "before ^ after",
                "after - before",
                "tests/store/test_record_merge.py",
                "tests/store/test_record_merge.py",
            ),
        },
        "cub/store/jsonl.py": {
            "lines of one side of a conflict are lost": (
                "yield from base if base and not line.text.startswith(_BETWEEN) else ()",
                "yield from ()",
                "tests/store/test_jsonl.py",
                "tests/store/test_git_merges.py",
            ),
            "lines that both sides of a conflict began with come back": (
                "base = [] if line.text.startswith(_BASE) else None",
                "base = None",
                "tests/store/test_jsonl.py",
                "tests/store/test_git_merges.py",
            ),
            "a number that is too large is read as infinity": (
                "    if math.isinf(number):\n",
                "    if math.isnan(number):\n",
            ),
            "what stands behind an object on its line is passed over": (
                "    if end < len(words):\n",
                "    if end > len(words):\n",
            ),
            "a byte order mark moves the place of the first line": (
                "start, raw = start + len(_BOM), raw[len(_BOM) :]",
                "raw = raw[len(_BOM) :]",
                "tests/store/test_jsonl.py",
                "tests/store/test_task_index.py",
            ),
        },
        "cub/store/jsonl_append.py": {
            "a new line is joined to one that a crash cut off": (
                '_append(real, data if _ends_with_newline(real) else b"\\n" + data, disk)',
                "_append(real, data, disk)",
                "tests/store/test_ledger.py",
            ),
            "lines are appended without the lock": (
                "    lock.require_held()\n",
                "",
                "tests/store/test_ledger.py",
            ),
            "half a line stays where the disk is full": (
                "if (written := real.stat().st_size - size) > 0:",
                "if (written := real.stat().st_size - size) < 0:",
                "tests/store/test_ledger.py",
                "tests/store/test_backend_faults.py",
            ),
            "lines that were kept already are kept once more": (
                "return [line for line in dict.fromkeys(lines) if line not in old_lines]",
                "return [*dict.fromkeys(lines)]",
                "tests/store/test_backend.py",
                "tests/store/test_damage.py",
            ),
        },
        "cub/store/task_index.py": {
            "the younger of two tasks with one id keeps it": (
                'first, *others = sorted(groups) or [""]',
                'first, *others = sorted(groups, reverse=True) or [""]',
                "tests/store/test_task_index.py",
                "tests/store/test_git_merges.py",
            ),
            "lines without a time of creation are lost": (
                "self._merge_records(key, groups.get(first, []) + undated)",
                "self._merge_records(key, groups.get(first, []) or undated)",
                "tests/store/test_task_index.py",
                "tests/store/test_git_merges.py",
            ),
            "a new task may get the id of a deleted one": (
                "return [*self.summaries, *self.deleted_summaries]",
                "return [*self.summaries]",
                "tests/store/test_deleted.py",
            ),
        },
        "cub/store/backend.py": {
            "rejected lines are dropped before they are kept": (
                "        append_lines(lock, REJECTED_FILE, lines, self.disk)  # before they leave the file\n",
                "",
                "tests/store/test_backend.py",
                "tests/store/test_damage.py",
            ),
            "the file is not read anew under the lock": (
                "        with lock_project(self.root) as lock:\n            before = read_tracked_file(self.root, TASKS_FILE)\n",
                "        before = read_tracked_file(self.root, TASKS_FILE)\n        with lock_project(self.root) as lock:\n",
                "tests/store/test_backend.py",
                "tests/store/test_processes.py",
            ),
            "a large store loses the tasks behind its first megabyte": (
                "            piece.clear()\n    yield bytes(piece)\n",
                "            piece.clear()\n            break\n    yield bytes(piece)\n",
            ),
        },
        "cub/store/ledger.py": {
            "events are gone from the ledger before they are archived": (
                '            append_lines(lock, ARCHIVE_FILE, new, ledger.disk)\n            path, after = ledger.root / ledger.path, b"\\n".join(rest)\n            replace_single_file(path, data, after, ledger.path, ledger.disk)\n',
                '            path, after = ledger.root / ledger.path, b"\\n".join(rest)\n            replace_single_file(path, data, after, ledger.path, ledger.disk)\n            append_lines(lock, ARCHIVE_FILE, new, ledger.disk)\n',
            ),
            "events of open tasks are archived": (
                "(old if is_old and not is_needed else rest).append(line)",
                "(old if is_old else rest).append(line)",
            ),
            "an event that is still being written is told": (
                'return data.rfind(b"\\n") + 1',
                "return len(data)",
            ),
        },
        "cub/store/timestamps.py": {
            "a slow clock puts a change before the last one": (
                "    if timestamp > floor:\n        return timestamp\n",
                "    if timestamp != floor:\n        return timestamp\n",
                "tests/store/test_record_merge.py",
            ),
        },
        "cub/store/dependencies.py": {
            "a task is ready although it waits for another one": (
                "if key not in known or not known[key].is_done]",
                "if key not in known]",
            ),
            "a dependency that does not exist is no obstacle": (
                "if key not in known or not known[key].is_done]",
                "if key in known and not known[key].is_done]",
            ),
            "a task that was tried comes before a fresh one": (
                "return task.priority, tried, -unblocks,",
                "return task.priority, not tried, -unblocks,",
            ),
            "a circle of two tasks is overlooked": (
                "if len(group) > 1 or start in graph[start]:",
                "if len(group) > 2 or start in graph[start]:",
            ),
        },
        "cub/store/leases.py": {
            "a lease that is over still holds": (
                "if expires <= self.timestamp or expires > latest:",
                "if expires > latest:",
                "tests/store/test_dependencies.py",
            ),
            "a process of another machine is looked for here": (
                'is_here = lease.get("host") == self.host and type(pid) is int',
                "is_here = type(pid) is int",
                "tests/store/test_dependencies.py",
            ),
        },
        "cub/store/task_ids.py": {
            "a child gets the number of one that is there": (
                "max(numbers, default=0) + 1}",
                "max(numbers, default=1)}",
            ),
        },
        "cub/store/events.py": {
            "an event may be longer than a line": (
                "    if len(encode_record(limited)) >= MAX_LINE:\n        limited = {k: v for",
                "    if len(encode_record(limited)) >= 2 * MAX_LINE:\n        limited = {k: v for",
            ),
            "secrets of an event are not masked": (
                "masked: Event = mask_tree(event, _NAMES)",
                "masked: Event = dict(event)",
            ),
        },
    },
)
