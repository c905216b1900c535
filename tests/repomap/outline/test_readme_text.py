from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.outline.readme_text import (
    extract_comment_paragraph,
    extract_first_paragraph,
    extract_opening_paragraph,
    extract_title,
    strip_markup,
    take_first_sentence,
    take_sentences,
)


@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        ('a [link](https://x.test "t") and [other][ref]', "a link and other"),
        ("[![badge](https://b.test)](https://c.test) words", "words"),
        ("a [link](https://x.test/wiki/It_(really)), and more", "a link, and more"),
        ("**bold**, *thin*, __both__ and ~~gone~~", "bold, thin, both and gone"),
        ("`code` and ``more``", "code and more"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("<b>bold</b> <!-- hidden --> text<br/>", "bold text"),
        ("&lt;tag&gt; &amp; more", "<tag> & more"),
        (":class:`~flask.Flask` and :ref:`the guide <guide>`", "flask.Flask and the guide"),
        ("`Flask <https://x.test>`_ and Scrapy_ too", "Flask and Scrapy too"),
        ("|badge| words", "words"),
        ("uses {@code Foo} and {@link Bar}", "uses Foo and Bar"),
        ("of {@linkcode https://x.test | Bytes} here", "of Bytes here"),
        ("https://x.test[AsciiDoc] link", "AsciiDoc link"),
        ("for .NET , really", "for .NET, really"),
        (r"escaped \* star", "escaped * star"),
        ("two\nlines\x07", "two lines"),
    ],
)
def test_markup_goes_and_words_stay(marked: str, bare: str) -> None:
    assert strip_markup(marked) == bare


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One thing. Another.", "One thing"),
        ("Tools, e.g. this one. More", "Tools, e.g. this one"),
        ("Version 1.2 of it. More", "Version 1.2 of it"),
        ("no end", "no end"),
        ("It is made of:", "It is made of"),
    ],
)
def test_the_first_sentence_has_no_full_stop(text: str, first: str) -> None:
    assert take_first_sentence(text) == first


@pytest.mark.parametrize(
    ("text", "limit", "said"),
    [
        ("One. Two. Three.", 20, "One. Two."),
        ("One. Two is longer.", 8, "One."),
        ("One. It has two parts:", 50, "One."),
        ("Only one, longer than the limit", 5, "Only one, longer than the limit"),
    ],
)
def test_two_sentences_are_taken_where_they_fit(text: str, limit: int, said: str) -> None:
    assert take_sentences(text, limit) == said


_WORDS = "It reads the files of a project."
_READMES = [
    f"# Name\n\n{_WORDS}\n",
    f"Name\n====\n\n{_WORDS}\n",
    f"====\nName\n====\n\n{_WORDS}\n",
    f"= Name\n:toc:\n\n{_WORDS}\n",
    f"# Name\n{_WORDS}\n",
    f"<p align=center>\n<img src=x>\n</p>\n\n# Name\n\n[![b](x)](y)\n![c](d)\n\n{_WORDS}\n",
    f"# Name\n\n> A quote of somebody else there.\n\n{_WORDS}\n",
    f"# Name\n\n| a | b |\n|---|---|\n| c | d |\n\n{_WORDS}\n",
    f"# Name\n\n```sh\npip install name and some more words\n```\n\n{_WORDS}\n",
    f"---\ntitle: some words that are no text\n---\n\n# Name\n\n{_WORDS}\n",
    f".. image:: x.png\n   :alt: some words for the image\n\nName\n----\n\n{_WORDS}\n",
    f"<!--\nsome words that nobody sees\n-->\n# Name\n\n{_WORDS}\n",
    f"# Name\n\n- first point of a list\n- second point of a list\n\n{_WORDS}\n",
    f"# Name\n\nSee the website for documentation of it.\n\n{_WORDS}\n",
    f"# Name\n\nRun this command to begin with it:\n\n{_WORDS}\n",
    f"# Name\n\n    indented code is no text either\n\n{_WORDS}\n",
    f"Name\n\n{_WORDS}\n",
    f"\n\n\n{_WORDS}",
]


@pytest.mark.parametrize("text", _READMES)
def test_the_first_real_paragraph_is_found(text: str) -> None:
    assert extract_first_paragraph(text) == _WORDS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# finder.nvim\n\nGaze deeply into it.\n\nfinder.nvim is a fuzzy finder.\n",
         "finder.nvim is a fuzzy finder."),
        ("# N\n\nValidates all of the data.\n\n## N V2\n\nN V2 is a rewrite of it.\n",
         "Validates all of the data."),
        ("# N\n\n<p>N does it all for you</p>\n\n## Install\n\nThe files are on the server.\n",
         "N does it all for you"),
        ("# N\n\nLooking for some help? Ask.\n\nIt answers all questions.\n",
         "It answers all questions."),
        ("# N\n\n> Only a quote says what it is\n", "Only a quote says what it is"),
        ("# N\n\n<p>Only some HTML says it</p>\n", "Only some HTML says it"),
        ("# N\n", ""),
        ("", ""),
        ("# N\n\nこれはとても速いビルドツールです。\n", "これはとても速いビルドツールです。"),
    ],
)  # fmt: skip
def test_what_says_most_is_taken(text: str, said: str) -> None:
    assert extract_first_paragraph(text) == said


def test_an_opening_stands_above_the_second_heading() -> None:
    assert (
        extract_opening_paragraph("# Name\n\nWhat this thing is for.\n\n## Use\n")
        == "What this thing is for."
    )
    assert not extract_opening_paragraph("# Name\n\n## Use\n\nThen follow all the prompts.\n")


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# The *Name* of it #\n", "The Name of it"),
        ("Name\n====\n", "Name"),
        ("= Name\n", "Name"),
        ("no heading here\n", ""),
    ],
)
def test_the_heading_is_found(text: str, heading: str) -> None:
    assert extract_title(text) == heading


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NumPy\n=====\n\nWhat it gives\n  1. An array\n  2. More\n", "What it gives"),
        ('!!! abstract "Usage"\n    See there\n\nBuilds plugins.\n', "Builds plugins."),
        ("# Only a title\n", "Only a title"),
    ],
)
def test_a_comment_says_it_above_its_list_and_beside_its_boxes(text: str, said: str) -> None:
    assert extract_comment_paragraph(text) == said


def test_a_comment_of_two_words_is_enough() -> None:
    assert (
        extract_comment_paragraph("\nExtra utilities.\n\nAnd more of them here.\n")
        == "Extra utilities."
    )


@given(st.text(alphabet="#=-`~<>!-[]()*_|:.ab \n\\{}&;", max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    for found in (
        extract_first_paragraph(text),
        extract_opening_paragraph(text),
        extract_title(text),
        extract_comment_paragraph(text),
    ):
        assert found.isprintable()
