"""Mutations of prompts: what an agent is told, and what may not pass for cub's words."""

from __future__ import annotations

from tests.mutations.mutation import Mutation

PROMPT = (
    Mutation(
        "an attempt before the last success is told",
        "cub/actions/previous_attempts.py",
        'failed = [*takewhile(lambda event: not event.get("ok"), events)]',
        'failed = [event for event in events if not event.get("ok")]',
        ("tests/actions/test_previous_attempts.py",),
    ),
    Mutation(
        "the oldest attempt is told as the last one",
        "cub/actions/previous_attempts.py",
        "key=get_timestamp, reverse=True)",
        "key=get_timestamp)",
        ("tests/actions/test_previous_attempts.py",),
    ),
    Mutation(
        "a failure of the machine counts as the task's",
        "cub/actions/run/failures.py",
        "return charge if isinstance(charge, bool) else find_class(get_outcome(event)).is_charged",
        "return charge if isinstance(charge, bool) else True",
        ("tests/actions/test_previous_attempts.py", "tests/actions/run/test_retry_policy.py"),
    ),
    Mutation(
        "the same failure twice is not told",
        "cub/actions/previous_attempts.py",
        "    if len(same) > 1:\n",
        "    if len(same) > 2:\n",
        ("tests/actions/test_previous_attempts.py",),
    ),
    Mutation(
        "items that are new are told as fixed",
        "cub/actions/previous_attempts.py",
        "return ItemChanges(new if _is_whole(then) else (), fixed if _is_whole(now) else (), unchanged)",
        "return ItemChanges(fixed if _is_whole(then) else (), new if _is_whole(now) else (), unchanged)",
        ("tests/actions/test_previous_attempts.py",),
    ),
    Mutation(
        "a check that passed counts as failed",
        "cub/actions/previous_attempts.py",
        'if check.get("exit") != 0]',
        'if check.get("exit") != 1]',
        ("tests/actions/test_previous_attempts.py",),
    ),
    Mutation(
        "a heading in a text of others stands as it is",
        "cub/prompt/untrusted_text.py",
        "        mark = _HEADING_MARK.match(line)\n",
        "        mark = None\n",
        ("tests/prompt/test_forged_headings.py", "tests/prompt/test_untrusted_text.py"),
    ),
    Mutation(
        "a heading that is underlined stands as it is",
        "cub/prompt/untrusted_text.py",
        "            mark = _UNDERLINE.match(line)\n",
        "            mark = None\n",
        ("tests/prompt/test_forged_headings.py", "tests/prompt/test_untrusted_text.py"),
    ),
    Mutation(
        "what only begins like a fence keeps its headings",
        "cub/prompt/untrusted_text.py",
        'if leaf.kind == "fence")',
        'if leaf.kind != "html_block")',
        ("tests/prompt/test_forged_headings.py",),
    ),
    Mutation(
        "a tag makes a heading",
        "cub/prompt/untrusted_text.py",
        '_HEADING_TAG.sub("&lt;", text)',
        "text",
        ("tests/prompt/test_forged_headings.py",),
    ),
    Mutation(
        "a signal to the run loop comes from a task's text",
        "cub/prompt/untrusted_text.py",
        'return _SIGNAL.sub("&lt;", text)',
        "return text",
        ("tests/prompt/test_untrusted_text.py",),
    ),
    Mutation(
        "a log closes the fence that it is in",
        "cub/prompt/untrusted_text.py",
        'fence = "`" * max(3, _count_backticks(body) + 1)',
        'fence = "`" * max(3, _count_backticks(body))',
        ("tests/prompt/test_untrusted_text.py",),
    ),
    Mutation(
        "an open fence swallows what comes behind a text",
        "cub/prompt/untrusted_text.py",
        '    return f"{text}\\n{_close(opening)}"\n',
        "    return text\n",
        ("tests/prompt/test_untrusted_text.py",),
    ),
    Mutation(
        "a text is cut before its secrets are masked",
        "cub/prompt/untrusted_text.py",
        "    text = mask_text(text)  # before cutting: no pattern finds half a secret\n",
        "",
        ("tests/prompt/test_untrusted_text.py",),
    ),
    Mutation(
        "a log is kept without masking its secrets",
        "cub/prompt/untrusted_text.py",
        'return mask_text(_SEPARATOR.sub("\\n", text))',
        'return _SEPARATOR.sub("\\n", text)',
        ("tests/prompt/test_untrusted_text.py",),
    ),
    Mutation(
        "a prompt may cost a token more than its budget",
        "cub/prompt/task_prompt.py",
        "        if estimate_tokens(text) <= tokens:",
        "        if estimate_tokens(text) <= tokens + 1:",
        ("tests/prompt/test_prompt_budget.py",),
    ),
    Mutation(
        "the shortest prompt is taken where a longer one fits",
        "cub/prompt/task_prompt.py",
        "        if estimate_tokens(text) <= tokens:\n            break\n",
        "",
        ("tests/prompt/test_prompt_budget.py",),
    ),
)
