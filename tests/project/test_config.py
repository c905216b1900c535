from __future__ import annotations

from dataclasses import replace

import pytest

from cub.errors import CubError
from cub.project.config import ProjectConfig, parse_config
from cub.project.targets import normalize_target

VERSION = "0.3.1"


@pytest.mark.parametrize("data", [None, b"", b" \n", b"# words\n", b"---\n", b"null\n", b"{}\n"])
def test_no_file_and_nothing_in_it_are_the_defaults(data: bytes | None) -> None:
    assert parse_config(data, version=VERSION) == ProjectConfig()


def test_every_key_is_read() -> None:
    data = (
        b'schema: 1\nrequires-cub: ">=0.3"\ntargets: [CLAUDE.md]\nplacement: top\n'
        b"inline: [constitution, map, map]\n"
        b"map: {tokens: 0, exclude: [/gen, /gen], commit: false}\n"
    )
    found = ProjectConfig(
        1, ("CLAUDE.md",), "top", ("constitution", "map"), 0, ("/gen", "/gen"), False,
        has_targets=True,
    )  # fmt: skip
    assert parse_config(data, version=VERSION) == found


@pytest.mark.parametrize(("known", "fits"), [(2, False), (3, True), (4, True)])
def test_a_schema_is_known_or_its_file_is_a_newer_cub_s(known: int, fits: bool) -> None:
    data = b"run: of another type\nschema: 3\n"
    with pytest.raises(CubError) as caught:
        parse_config(data, version=VERSION, schema=known)
    newer = caught.value.message.startswith("schema: this project was written by a newer cub")
    assert newer != fits
    assert (f"knows {known})" in caught.value.message) != fits


def test_a_file_for_another_cub_is_told_as_such_first() -> None:
    with pytest.raises(CubError, match="this project needs cub >=9") as caught:
        parse_config(b"placement: left\nrequires-cub: '>=9'\nschema: 99\n", version=VERSION)
    assert caught.value.where == ".cub/config.yaml:2:15"


@pytest.mark.parametrize(
    "key",
    ["schema", "requires-cub", "targets", "placement", "run", "inline", "map"]
    + [f"map:\n  {key}" for key in ("tokens", "exclude", "commit")],
)
def test_a_key_without_a_value_is_its_default(key: str) -> None:
    found = parse_config(f"{key}:\n".encode(), version=VERSION)
    assert replace(found, warnings=()) == ProjectConfig()


@pytest.mark.parametrize(
    "wanted", [">=0.3", "==0.3.*", ">=0.1,<1", "~=0.3.0", "0.3.1", ">0.3", "<0.3", ">=1", "!=0.3.1"]
)
def test_a_requirement_fits_or_is_an_error_that_says_how_to_get_it(wanted: str) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    data = f'requires-cub: "{wanted}"\n'.encode()
    try:
        fits = SpecifierSet(wanted).contains(VERSION)
    except InvalidSpecifier:
        with pytest.raises(CubError, match="must be a version specifier"):
            parse_config(data, version=VERSION)
        return
    if fits:
        assert parse_config(data, version=VERSION) == ProjectConfig()
        return
    with pytest.raises(CubError, match="this project needs cub") as error:
        parse_config(data, version=VERSION)
    assert error.value.where == ".cub/config.yaml:1:15"
    assert "install a version of cub that matches" in error.value.hint


@pytest.mark.parametrize("version", ["0.3.0.dev1", "0.3.0rc1", "0.4.0a1", "1.0"])
def test_a_version_before_its_release_counts_as_one(version: str) -> None:
    data = b'requires-cub: ">=0.3.0.dev0"\n'
    assert parse_config(data, version=version) == ProjectConfig()


def test_an_unknown_key_is_warned_about_with_its_line() -> None:
    found = parse_config(b"schema: 1\n# x\nrequires_cub: '>=1'\nother: 1\n", version=VERSION)
    assert [(w.location, w.message, w.hint) for w in found.warnings] == [
        (
            ".cub/config.yaml:3",
            "unknown key 'requires_cub'",
            "did you mean 'requires-cub'?",
        ),
        (".cub/config.yaml:4", "unknown key 'other'", "cub keeps the key and ignores it"),
    ]


def test_unknown_keys_inside_are_warned_about_too_in_the_order_of_the_lines() -> None:
    data = (
        b"run:\n  max_atempts: 3\n  budget: {eur: 1}\nharnesses:\n  mine:\n    comand: [a]\n"
        b"profiles:\n  fast:\n    runn: {}\n    run: {modl: x}\n    profiles: {}\n"
    )
    warnings = parse_config(data, version=VERSION).warnings
    assert [(w.line, w.message, w.hint) for w in warnings if "unknown" in w.message] == [
        (2, "unknown key 'run.max_atempts'", "did you mean 'run.max_attempts'?"),
        (3, "unknown key 'run.budget.eur'", "cub keeps the key and ignores it"),
        (6, "unknown key 'harnesses.mine.comand'", "cub keeps the key and ignores it"),
        (9, "unknown key 'profiles.fast.runn'", "did you mean 'profiles.fast.run'?"),
        (10, "unknown key 'profiles.fast.run.modl'", "did you mean 'profiles.fast.run.model'?"),
        (11, "unknown key 'profiles.fast.profiles'", "cub keeps the key and ignores it"),
    ]
    assert [w.line for w in warnings] == sorted(w.line or 0 for w in warnings)


def test_very_many_unknown_keys_are_told_once() -> None:
    data = b"".join(b"key%d: {}\n" % n for n in range(4_000))
    warnings = parse_config(data, version=VERSION).warnings
    assert [w.line for w in warnings] == list(range(1, 22))
    assert warnings[-1].message == "more unknown keys, not listed"
    inside = b"profiles:\n" + b"".join(b"  p%d: {x: 1}\n" % n for n in range(1_000))
    assert len(parse_config(inside, version=VERSION).warnings) == 21


def test_merged_keys_count_as_written() -> None:
    data = b"x: &x {placement: top, inline: [map]}\n<<: *x\ninline: []\n"
    found = parse_config(data, version=VERSION)
    assert (found.placement, found.inline) == ("top", ())


def test_an_unknown_key_of_a_command_is_named() -> None:
    data = b"context_commands:\n- name: N\n  command: c\n  on_fail: warn\n  timeout: 1m\n"
    (warning,) = parse_config(data, version=VERSION).warnings
    assert warning.message == "unknown key 'context_commands[0].on_fail'"
    assert warning.line == 4
    assert warning.hint == "did you mean 'context_commands[0].on_failure'?"


def test_a_target_has_one_spelling_and_stands_once() -> None:
    data = b"targets: [./AGENTS.md, AGENTS.md, a//AGENTS.md, a/./AGENTS.md]\n"
    assert parse_config(data, version=VERSION).targets == ("AGENTS.md", "a/AGENTS.md")
    assert normalize_target("./a//b/../AGENTS.md") == "a/AGENTS.md"
