from __future__ import annotations

import pytest

from cub.config_edit import config_text
from cub.config_edit.string_list import ListLocation, edit_string_list, read_string_list
from cub.errors import CubError

JSON = ListLocation("s.json", ("a", "b"), config_text.JSON)
STRICT = JSON._replace(format=config_text.STRICT_JSON)
YAML = ListLocation("c.yml", ("read",), config_text.YAML)

NOT_READ = [
    (JSON, '{"a": {"b": 3}}', "s.json:1:13: a.b must be a string or a list of strings"),
    (JSON, '{"a": {"b": {}}}', "s.json:1:13: a.b must be a string or"),
    (JSON, '{"a": {"b": null}}', "s.json:1:13: a.b must be a string or"),
    (JSON, '{"a": {"b": ["x", 1]}}', "s.json:1:13: a.b must be a string or"),
    (JSON, '{\n\t"a": []}', "s.json:2:7: a: expected a mapping of keys to values"),
    (JSON, '{"a": null}', "s.json:1:7: a: expected a mapping"),
    (JSON, "[]", "s.json:1:1: expected a mapping"),
    (JSON, "null", "s.json:1:1: expected a mapping"),
    (JSON, '{"a" 1}', "s.json:1:6: invalid JSON: "),
    (JSON, '\ufeff{"a" 1}', "s.json:1:6: invalid JSON: "),
    (JSON, '{"a": 1}\r\n}', "s.json:2:1: invalid JSON: "),
    (JSON, '{"a": [,]}', "s.json:1:8: invalid JSON: "),
    (JSON, "{a: 1}", "s.json:1:2: invalid JSON: "),
    (JSON, '{"z": NaN}', "s.json:1:1: invalid JSON: NaN is not a number"),
    (JSON, '{"z": "\n"}', "s.json:1:8: invalid JSON: "),
    (JSON, '{"z": "', "s.json:1:7: invalid JSON: "),
    (JSON, '{}\n /* " ', "s.json:2:2: unterminated comment"),
    (JSON, "[" * 60_000, "s.json:1:1: too deeply nested"),
    (STRICT, '{"z": [1,], /* , */ "y": 0,}', "s.json:1:9: trailing comma"),
    (STRICT, "\ufeff{}", "s.json:1:1: byte order mark"),
    (YAML, "read: 3\n", "c.yml:1:7: read must be a string or a list of strings"),
    (YAML, "read: ~\n", "c.yml:1:7: read must be a string or"),
    (YAML, "read:\n  - a\n  - [b]\n", "c.yml:2:3: read must be a string or"),
    (YAML, "- read\n", "c.yml:1:1: expected a mapping"),
    (YAML, "just words\n", "c.yml:1:1: expected a mapping"),
    (YAML, "a: 1\nread: [\n", "c.yml:3:1: "),
    (YAML, "read: a\nread: b\n", "c.yml:2:1: "),
    (YAML, "a: 1\n---\nb: 1\n", "c.yml:2:1: "),
]


@pytest.mark.parametrize(("place", "text", "message"), NOT_READ, ids=range(len(NOT_READ)))
def test_what_is_of_another_kind_is_an_error_with_its_place(
    place: ListLocation, text: str, message: str
) -> None:
    for attempt in (
        lambda d: edit_string_list(d, place, ["n.md"]),
        lambda d: read_string_list(d, place),
    ):
        with pytest.raises(CubError) as caught:
            attempt(text.encode())
        assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "x: &x [a]\nread: *x\n",
        "read: &x [a]\nx: *x\n",
        "read: &x\n- a\n",
        "a: |\n  b",
        "read: x, y.md\n",
        "read: |\n  x\n",
        "a: 1\n...\n",
    ],
)
def test_what_can_not_be_edited_exactly_is_left_to_the_person(text: str) -> None:
    with pytest.raises(CubError, match="without changing other lines") as caught:
        edit_string_list(text.encode(), YAML, ["n.md"])
    hint = caught.value.hint
    there = read_string_list(text.encode(), YAML) or ()
    written = hint.removeprefix("add it yourself: ").rpartition(" with: ")[2]
    assert read_string_list(written.encode(), YAML) == (
        *there,
        "n.md",
    )


@pytest.mark.parametrize("text", ["read: [x, # why\n y]\n", "read:\n- x\n- |- # why\n  y\n"])
def test_a_comment_is_never_dropped_with_an_item(text: str) -> None:
    with pytest.raises(CubError, match="without changing") as caught:
        edit_string_list(text.encode(), YAML, (), removed_texts=["y"])
    assert caught.value.hint == "replace `read` on line 1 with: read: [x]"


def test_what_to_write_by_hand_is_json_in_json() -> None:
    with pytest.raises(CubError) as caught:
        edit_string_list(b'{"a": 1}', JSON, ["n", "m"])
    assert caught.value.hint == 'replace `a` on line 1 with: "a": {"b": ["n", "m"]}'


def test_bytes_that_are_no_text_are_an_error_with_their_place() -> None:
    for place, where in ((JSON, "s.json:2:3"), (YAML, "c.yml:2:3")):
        with pytest.raises(CubError, match="byte 0xff is not UTF-8") as caught:
            edit_string_list(b"a:\n# \xff", place, ["n"])
        assert caught.value.where == where
