from __future__ import annotations

import pytest

from tests.docs.words import count_words, find_words, list_literals, read_ceilings

HINT = "`python -m tests.docs.words` names them, and what to write instead"


def test_no_file_has_more_words_of_the_list_than_its_ceiling() -> None:
    counts, ceilings = count_words(), read_ceilings()
    over = {name: count for name, count in counts.items() if count > ceilings.get(name, 0)}
    assert over == {}, f"words that plain English avoids, by file; {HINT}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("This is no commit, and nobody tells.", ["is no", "nobody", "tells"]),
        ("There is no agent.", []),
        (
            "A text is not a text file, and the Agent Client Protocol needs a client.",
            ["A text", "client"],
        ),
        ("It is no longer there, and nothing is blank but blank lines.", ["blank"]),
        ("Put it back\nby hand, too.", ["Put it back", "by hand", "too"]),
        ("`tell` and\n```sh\ntell me\n```\n[tell](tell.md#told)", ["tell"]),
        ("<!-- BEGIN cub:managed -->", []),
        ("`run.harness`, --harness X, run.harness: codex", []),
        ("a file of cub's own", ["of cub's"]),
        ("So that X, so that Y.", ["So that"]),
        ("So that X.\n\nSo that Y.", []),
    ],
)
def test_a_word_counts_in_prose_alone(text: str, words: list[str]) -> None:
    assert [word for _, word, _ in find_words(text)] == words


def test_a_word_is_found_on_its_line() -> None:
    assert [line for line, _, _ in find_words("one\n\n`two`\nnobody\n")] == [4]


def test_literals_are_those_of_messages_and_no_docstrings() -> None:
    source = '"""Module."""\ndef f(x):\n    """Do it."""\n    return f"a {x} b" "c", "d"\n'
    assert [(line, text) for line, text in list_literals(source) if text] == [
        (4, "a X bc"),
        (4, "d"),
    ]
