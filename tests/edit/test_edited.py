from __future__ import annotations

import pytest

from cub.edit.edited import user_lines

OURS = "## H\n\n- one\n- two\n- three\n\nThe end.\n"


def _lines(text: str) -> list[bytes]:
    return [line.encode() for line in text.splitlines(keepends=True)]


@pytest.mark.parametrize(
    ("body", "moved"),
    [
        (OURS, ""),
        (OURS.replace("- two\n", ""), ""),
        (OURS.replace("- two\n", "- two\n- mine\n"), "- mine\n"),
        (OURS.replace("- two\n", "- 2\n"), "- 2\n"),
        (OURS + "\nMine.\n\nMore.\n", "Mine.\n\nMore.\n"),
        ("Mine.\n\n" + OURS, "Mine.\n"),
        (
            OURS.replace("- one\n", "- one\n- a\n").replace("- three\n", "- three\n- b\n"),
            "- a\n- b\n",
        ),
        (OURS + "```sh\nx\n\n\ny\n```\n", "```sh\nx\n\n\ny\n```\n"),
        (OURS.replace("\n", "  \r\n"), ""),
        (OURS.replace("\n", "\r\n").replace("- two", "- zwei"), "- zwei\r\n"),
        ("", ""),
        ("Only mine.\n", "Only mine.\n"),
        ("Only mine.\n\nAnd this.\n", "Only mine.\n\nAnd this.\n"),
    ],
)
def test_added_and_changed_lines_are_the_users(body: str, moved: str) -> None:
    assert user_lines(OURS, _lines(body)) == moved.encode()
