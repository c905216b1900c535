"""Mutations of prompts: what an agent is told, and what may not pass for cub's words."""

from __future__ import annotations

from tests.mutations.mutation import list_mutations

PROMPT = list_mutations(
    {
        "cub/actions/previous_attempts.py": {
            "an attempt before the last success is told": (
                'failed = [*takewhile(lambda event: not event.get("ok"), events)]',
                'failed = [event for event in events if not event.get("ok")]',
            ),
            "the oldest attempt is told as the last one": (
                "key=get_timestamp, reverse=True)",
                "key=get_timestamp)",
            ),
            "the same failure twice is not told": (
                "    if len(same) > 1:\n",
                "    if len(same) > 2:\n",
            ),
            "items that are new are told as fixed": (
                "return ItemChanges(new if _is_whole(then) else (), fixed if _is_whole(now) else (), unchanged)",
                "return ItemChanges(fixed if _is_whole(then) else (), new if _is_whole(now) else (), unchanged)",
            ),
            "a check that passed counts as failed": (
                'if check.get("exit") != 0]',
                'if check.get("exit") != 1]',
            ),
        },
        "cub/actions/run/failures.py": {
            "a failure of the machine counts as the task's": (
                "return charge if isinstance(charge, bool) else find_class(get_outcome(event)).is_charged",
                "return charge if isinstance(charge, bool) else True",
                "tests/actions/test_previous_attempts.py",
                "tests/actions/run/test_retry_policy.py",
            ),
        },
        "cub/prompt/untrusted_text.py": {
            "a heading in a text of others stands as it is": (
                "        mark = _HEADING_MARK.match(line)\n",
                "        mark = None\n",
                "tests/prompt/test_forged_headings.py",
                "tests/prompt/test_untrusted_text.py",
            ),
            "a heading that is underlined stands as it is": (
                "            mark = _UNDERLINE.match(line)\n",
                "            mark = None\n",
                "tests/prompt/test_forged_headings.py",
                "tests/prompt/test_untrusted_text.py",
            ),
            "what only begins like a fence keeps its headings": (
                'if leaf.kind == "fence")',
                'if leaf.kind != "html_block")',
                "tests/prompt/test_forged_headings.py",
            ),
            "a tag makes a heading": (
                '_HEADING_TAG.sub("&lt;", text)',
                "text",
                "tests/prompt/test_forged_headings.py",
            ),
            "a signal to the run loop comes from a task's text": (
                'return _SIGNAL.sub("&lt;", text)',
                "return text",
            ),
            "a log closes the fence that it is in": (
                'fence = "`" * max(3, _count_backticks(body) + 1)',
                'fence = "`" * max(3, _count_backticks(body))',
            ),
            "an open fence swallows what comes behind a text": (
                '    return f"{text}\\n{_close(opening)}"\n',
                "    return text\n",
            ),
            "a text is cut before its secrets are masked": (
                "    text = mask_text(text)  # before cutting: no pattern finds half a secret\n",
                "",
            ),
            "a log is kept without masking its secrets": (
                'return mask_text(_SEPARATOR.sub("\\n", text))',
                'return _SEPARATOR.sub("\\n", text)',
            ),
        },
        "cub/prompt/task_prompt.py": {
            "a prompt may cost a token more than its budget": (
                "        if estimate_tokens(text) <= tokens:",
                "        if estimate_tokens(text) <= tokens + 1:",
                "tests/prompt/test_prompt_budget.py",
            ),
            "the shortest prompt is taken where a longer one fits": (
                "        if estimate_tokens(text) <= tokens:\n            break\n",
                "",
                "tests/prompt/test_prompt_budget.py",
            ),
        },
    },
)
