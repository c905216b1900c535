from __future__ import annotations

import pytest

from cub.config_edit.config_text import JSON
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list

PLACE = ListLocation("s.json", ("a", "b"), JSON)
FLAT = ListLocation("s.json", ("b",), JSON)


def done(text: str, *items: str, place: ListLocation = PLACE) -> str:
    return edit_string_list(text.encode(), place, items).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"b":["x"]}', '{"b":["x", "n"]}'),
        ('{"b": ["x"]}', '{"b": ["x", "n"]}'),
        ('{"b": [ "x" , "y" ]}', '{"b": [ "x" , "y", "n" ]}'),
        ('{"b": ["x", ]}', '{"b": ["x", "n", ]}'),
        ('{"b": ["x" /* c */]} // d', '{"b": ["x", "n" /* c */]} // d'),
        ('{"b": ["x", "y" // c\n]}', '{"b": ["x", "y", "n" // c\n]}'),
        ('{"b": []}', '{"b": ["n"]}'),
        ('{"b": [ /* none */ ]}', '{"b": [ /* none */"n" ]}'),
        ('{"b": [\n  ]}', '{"b": [\n  "n"\n  ]}'),
        ('{\n "b": [\n  // none\n ]\n}', '{\n "b": [\n  // none\n   "n"\n ]\n}'),
        ('{"b": [\n    "x"\n]}', '{"b": [\n    "x",\n    "n"\n]}'),
        ('{"b": [\n\t"x", // c\n\t// d\n]}', '{"b": [\n\t"x", // c\n\t"n",\n\t// d\n]}'),
        ('{"b": [\n\t"x" // c\n\t// d\n]}', '{"b": [\n\t"x", // c\n\t"n"\n\t// d\n]}'),
        ('{"b": [\n "x" // c, d\n]}', '{"b": [\n "x", // c, d\n "n"\n]}'),
        (
            '{"b": [\n "x" /* c */\n], "a": 1 /* d */, "z": 2}',
            '{"b": [\n "x", /* c */\n "n"\n], "a": 1 /* d */, "z": 2}',
        ),
        ('{"b": [\n "x" /* c\n */\n]}', '{"b": [\n "x", /* c\n */\n "n"\n]}'),
        ('{"b": [\r\n  "x"\r\n]}\r\n', '{"b": [\r\n  "x",\r\n  "n"\r\n]}\r\n'),
        ('{"b": [\r  "x"\r]}', '{"b": [\r  "x",\r  "n"\r]}'),
        ('{"b": "x"}', '{"b": ["x", "n"]}'),
        ('{"b": "x" /* c */, "a": "]"}', '{"b": ["x", "n"] /* c */, "a": "]"}'),
        ('\ufeff{"b": ["x"]}', '\ufeff{"b": ["x", "n"]}'),
        ('{"b": "x", "b": ["y"]}', '{"b": "x", "b": ["y", "n"]}'),
        ('{"\\u0062": ["\\ud83e\\udd56\\/"]}', '{"\\u0062": ["\\ud83e\\udd56\\/", "n"]}'),
        ('// {"b": []}\n{"b": ["//"]}', '// {"b": []}\n{"b": ["//", "n"]}'),
    ],
)
def test_an_item_joins_the_list_in_its_style(text: str, expected: str) -> None:
    assert done(text, "n", place=FLAT) == expected
    assert done(expected, "n", place=FLAT) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "a": {"b": ["n"]}\n}\n'),
        (" \n", ' \n{\n  "a": {"b": ["n"]}\n}\n'),
        ("// why", '// why\n{\n  "a": {"b": ["n"]}\n}'),
        ("\ufeff", '\ufeff{\n  "a": {"b": ["n"]}\n}\n'),
        ("{}", '{\n  "a": {"b": ["n"]}\n}'),
        ("{\n}\n", '{\n  "a": {"b": ["n"]}\n}\n'),
        ('{"z":1}', '{"z":1, "a": {"b": ["n"]}}'),
        ('{ "z": 1 }', '{ "z": 1, "a": {"b": ["n"]} }'),
        ('{"a": {}}', '{"a": {"b": ["n"]}}'),
        ('{\n\t"z": 1\n}', '{\n\t"z": 1,\n\t"a": {"b": ["n"]}\n}'),
        (
            '{\n    "z": [], // c\n    // d\n}\n',
            '{\n    "z": [], // c\n    "a": {"b": ["n"]},\n    // d\n}\n',
        ),
        (
            '{\r\n  "a": {},\r\n  "z": 1\r\n}',
            '{\r\n  "a": {"b": ["n"]},\r\n  "z": 1\r\n}',
        ),
        (
            '{\n  "a": {\n    "z": 1\n  }\n}',
            '{\n  "a": {\n    "z": 1,\n    "b": ["n"]\n  }\n}',
        ),
        ('{\n  "a": {"z": 1}\n}', '{\n  "a": {"z": 1, "b": ["n"]}\n}'),
    ],
)
def test_what_is_missing_is_added_at_the_end_of_its_object(text: str, expected: str) -> None:
    assert done(text, "n") == expected
    assert done(expected, "n") == expected


@pytest.mark.parametrize(
    ("there", "items", "expected"),
    [
        ('["x"]', ["x"], '["x"]'),
        ('["./x"]', ["x"], '["./x"]'),
        ('["x"]', ["n", "x", "n", "m"], '["x", "n", "m"]'),
        ('"x"', ["x"], '"x"'),
        ('["x", "x"]', ["n"], '["x", "x", "n"]'),
        ("[]", [], "[]"),
        ('["x"]', ['"q" é\n'], '["x", "\\"q\\" é\\n"]'),
    ],
)
def test_only_what_is_missing_is_added(there: str, items: list[str], expected: str) -> None:
    assert done(f'{{"b": {there}}}', *items, place=FLAT) == f'{{"b": {expected}}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("{}", None),
        ('{"a": {}}', None),
        ('{"a": {"b": []}}', ()),
        ('{"a": {"b": "x"}}', ("x",)),
        ('{"a": {"b": ["x", "y", ], }, }', ("x", "y")),
    ],
)
def test_what_is_set_can_be_read(text: str, expected: tuple[str, ...] | None) -> None:
    assert read_string_list(text.encode(), PLACE) == expected
