"""Mutations of cub/actions/run: whom a run believes, and what it does about a failure."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

RUN = list_mutations(
    {
        "cub/actions/run/attempt_files.py": {
            "a secret that only a commit of the agent's had stays in history": (
                "if head and not _may_be_kept(attempt):",
                "if not head and not _may_be_kept(attempt):",
                "tests/actions/run/test_new_files.py",
            ),
        },
        "cub/actions/run/attempt.py": {
            "a check may take instructions away": (
                "verdict = _judge_instructions(attempt) or verdict",
                "pass",
                "tests/actions/run/test_instruction_changes.py",
            ),
            "checks don't run with their earlier definitions": (
                "        verdict = change or verdict\n",
                "",
                "tests/actions/run/test_check_definitions.py",
            ),
        },
        "cub/actions/tasks/current_attempt.py": {
            "a hook of the run acts for the person": (
                "if is_place or is_in_run(root) else None",
                "if is_place else None",
                "tests/actions/run/test_inside_run.py",
            ),
            "who deletes the facts of an attempt acts for the person": (
                "    if mailbox.is_dir():",
                "    if (mailbox / ATTEMPT_FILE).is_file():",
            ),
        },
        "cub/actions/run/attempt_checks.py": {
            "what a formatter left is committed unchecked": (
                """take_edits_of_checks(changed))
        checks = yield from _run_checks(context, attempt)
""",
                """take_edits_of_checks(changed))
""",
                "tests/actions/run/test_odd_checks.py",
            ),
        },
        "cub/actions/run/acceptance.py": {
            "what a hook made of the files is committed unchecked": (
                "again = yield from _check_again(context, replace(attempt, tree=hooks.tree))",
                "again = judged._replace(attempt=replace(attempt, tree=hooks.tree))",
                "tests/actions/run/test_hooks.py",
            ),
        },
        "cub/place/merge_recovery.py": {
            "a lock from before an attempt is removed": (
                "_get_time_made(lock) >= since - _SLACK",
                "_get_time_made(lock) >= 0 * since",
            ),
            "the lock of a git at work is removed": (
                "for lock in locks if not _is_git_at_work(checkout) else ():",
                "for lock in locks:",
            ),
        },
        "cub/place/place.py": {
            "what an agent adds in a submodule is dropped without a word": (
                "if list_edited_paths(git) or git.list_items(*words)",
                "if list_edited_paths(git)",
                "tests/actions/run/test_agents_git.py",
            ),
        },
        "cub/actions/run/instruction_changes.py": {
            "anybody may write cub's section": (
                'return section is None or section.author != "cub"',
                "return False",
            ),
        },
        "cub/actions/run/retry_policy.py": {
            "a task gets an attempt more than it may have": (
                "if history.counted_attempts + 1 >= max_attempts:",
                "if history.counted_attempts + 1 > max_attempts:",
            ),
            "attempts from before a reopening count": (
                "failed += [] if is_past else [event]",
                "failed += [event]",
            ),
            "an agent that is stuck is tried once more": (
                "return verdict.failure == STUCK",
                "return False",
            ),
            "a first question waits for a person": (
                "return any(get_outcome(end) == ASKED_QUESTION.name for end in history.counted[:1])",
                "return True",
            ),
            "equal failures that do not follow each other are counted": (
                "return [*takewhile(is_same, self.counted)]",
                "return [*filter(is_same, self.counted)]",
            ),
            "three failures of the machine do not stop a run": (
                "else MAX_STREAK)",
                "else MAX_STREAK + 1)",
            ),
            "failures of another reason lengthen a row": (
                "self.length + 1 if verdict.failure == self.failure else 1",
                "self.length + 1",
            ),
        },
        "cub/actions/run/run_context.py": {
            "a budget may be used up once more": (
                "self.attempts + running >= self.iterations",
                "self.attempts + running > self.iterations",
            ),
            "dollars that are used up do not end a run": (
                "return over_usd or (",
                "return over_usd and (",
            ),
        },
        "cub/actions/tasks/attempt_edits.py": {
            "what an attempt did to another task is taken over as a new one": (
                "for key in new.summaries if key not in known)",
                "for key in new.summaries)",
            ),
            "an attempt sets the checks of its own task": (
                'for name in (*_VALUES, "parent")',
                'for name in (*_VALUES, "parent", "checks")',
            ),
            "what an attempt edited wins over what a person edited meanwhile": (
                "!= before.get(name) == current.get(name)",
                "!= before.get(name)",
            ),
        },
        "cub/actions/run/check_comparison.py": {
            "a check that failed before fails every attempt": (
                "is_ok = not new and not is_own",
                "is_ok = bool(fixed) and not is_own",
            ),
            "a new failure beside old ones is no failure": (
                "is_ok = not new and not is_own",
                "is_ok = not is_own",
            ),
            "a check of the task's own that fails as before is fine": (
                "is_ok, new, fixed = is_same and not is_own,",
                "is_ok, new, fixed = is_same,",
            ),
            "a check that passed before and fails now is no fault": (
                "is_ok, new, fixed = False, check.items, ()",
                "is_ok, new, fixed = not check.items, check.items, ()",
            ),
            "an attempt that fixes no known failure is done": (
                "return was_red and is_better and not",
                "return was_red and not",
            ),
            "checks that judged nothing accept an attempt": (
                "    return bool(check.items) and check.passes\n",
                "    return bool(check.items) or check.passes\n",
            ),
            "a check that cannot be run is no obstacle": (
                "if not check.can_run and not _may_come(check, own)]",
                "if not check.command]",
            ),
            "a pass without a test judges an attempt": (
                "        return not check.finds_no_test\n",
                "        return True\n",
            ),
        },
        "cub/actions/run/check_runner.py": {
            "a check recalls what it said of other files": (
                'if stored.get("tree") != tree or stored',
                "if stored",
            ),
            "a check that could not be run is remembered": (
                "return self.exit is not None and self.can_run",
                "return self.exit is not None or self.can_run",
            ),
        },
        "cub/actions/run/verdict.py": {
            "a client that failed by itself is judged by the checks": (
                "    if failed:\n        return Verdict(failures.HARNESS_EXIT, _describe_exit(evidence))\n",
                "",
            ),
            "a conflict that an agent left is committed": (
                "    if evidence.conflicts:\n",
                "    if evidence.conflicts and evidence.oversized_files:\n",
            ),
            "an attempt that changed nothing is done": (
                "    if not evidence.has_changes and not evidence.claims_no_change:\n",
                "    if not evidence.has_changes and evidence.claims_no_change:\n",
            ),
            "an agent that says it is stuck is judged by its files": (
                'if signals.stuck is not None or signals.status == "stuck":',
                'if signals.stuck is not None and signals.status == "stuck":',
            ),
            "a failed check beside one that passed is overlooked": (
                "[comparison for comparison in checks if not comparison.is_ok]",
                "[comparison for comparison in checks if not comparison.is_ok and len(checks) == 1]",
            ),
            "a failure of the machine is charged to the task": (
                "return self.failure is not None and self.failure.is_charged and not self.is_uncounted",
                "return self.failure is not None and not self.is_uncounted",
            ),
        },
        "cub/actions/run/check_inputs.py": {
            "a changed script of a check is not noticed": (
                "if before.get(file, ABSENT).identity != after.get(file, ABSENT).identity",
                "if file not in after",
            ),
            "a deleted test is told only where it was changed": (
                'if change.kind == "D"]',
                'if change.kind == "M"]',
            ),
        },
        "cub/actions/run/removed_tests.py": {
            "fewer tests than before are enough": (
                "        if number > (most.number if most else 0):",
                "        if False:",
            ),
            "a known failure is fixed by the end of its test": (
                "len(may_go) == len(found.paths) and not found.hides_failure",
                "len(may_go) == len(found.paths)",
                "tests/actions/run/test_check_definitions.py",
            ),
        },
        "cub/checks/static_tests.py": {
            "a trivial test stands for one that is gone": (
                "_SIMILAR = 0.5",
                "_SIMILAR = 0.0",
                "tests/actions/run/test_removed_tests.py",
            ),
        },
        "cub/actions/run/command_trust.py": {
            "a check that came later is trusted with the configuration": (
                "    if untrusted:\n",
                '    if untrusted and untrusted[0].section == "config":\n',
            ),
            "an agent chooses the checks of its own task": (
                "if pinned is None or (current and not load_trust(self.root).list_untrusted(current)):",
                "if current is not None:",
            ),
        },
        "cub/actions/run/attempt_finish.py": {
            "the name of a full disk counts as a fault of the task": (
                "if isinstance(cause, OSError) and cause.errno in _MACHINE_ERRORS:",
                "if isinstance(cause, OSError) and cause.errno not in _MACHINE_ERRORS:",
                "tests/actions/run/test_ends.py",
            ),
        },
    },
)
