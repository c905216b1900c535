"""How signatures are cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.symbols.signatures import limit_signature, shorten_signature

SIGNATURES = [
    "def route(rule: str, **options: t.Any) -> t.Callable[[T_route], T_route]",
    "def send_file(path_or_file, mimetype: str | None = None, as_attachment: bool = False)",
    "func (c *Command) ExecuteContextC(ctx context.Context, args []string) (c *Command, err error)",
    "<T> T fromJson(JsonReader reader, TypeToken<T> typeOfT) throws IOException, SyntaxException",
    "fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I, limit: usize) -> Self where I: Clone",
    "function createServer(config: Config | Resolved = {}, hooks?: Map<string, U>): Promise<S>",
    "class Flask(App, AnotherBase, YetAnotherBaseClassWithALongName, metaclass=Meta)",
    "class VeryLongClassNameThatGoesOn<T extends Something> extends Another<T, U> implements A, B",
    "type UserConfigExport = UserConfig | Promise<UserConfig> | UserConfigFnObject | UserConfigFn",
    "static int redis_command_get_keys_flags(const struct command *cmd, robj **argv, int argc)",
    'def open(path, mode="(,", *, encoding: str = ",)", errors: str | None = None, newline=None)',
]


@pytest.mark.parametrize(
    ("signature", "width", "expected"),
    [
        ("def f(a, b)", 56, "def f(a, b)"),
        (SIGNATURES[0], 56, "def route(rule, **options)"),
        (SIGNATURES[1], 56, "def send_file(path_or_file, mimetype, as_attachment)"),
        (SIGNATURES[1], 40, "def send_file(path_or_file, mimetype, …)"),
        (SIGNATURES[1], 30, "def send_file(path_or_file, …)"),
        (SIGNATURES[1], 12, "send_file(…)"),
        (SIGNATURES[1], 8, "send_file…"),
        (SIGNATURES[2], 56, "func (c *Command) ExecuteContextC(ctx, args)"),
        (SIGNATURES[3], 56, "<T> T fromJson(JsonReader reader, TypeToken<T> typeOfT)"),
        (SIGNATURES[3], 26, "<T> T fromJson(reader, …)"),
        (SIGNATURES[4], 30, "fn from_iter(iter, limit, …)"),
        (SIGNATURES[5], 56, "function createServer(config, hooks?): Promise<S>"),
        (SIGNATURES[5], 40, "function createServer(config, hooks?)"),
        (SIGNATURES[6], 56, "class Flask(App, AnotherBase, …)"),
        (SIGNATURES[7], 56, "class VeryLongClassNameThatGoesOn<T extends Something>…"),
        (SIGNATURES[7], 30, "VeryLongClassNameThatGoesOn…"),
        (SIGNATURES[8], 56, "type UserConfigExport = UserConfig | Promise…"),
        (SIGNATURES[9], 56, "static int redis_command_get_keys_flags(cmd, argv, argc)"),
        (SIGNATURES[10], 56, "def open(path, mode, *, encoding, errors, newline)"),
        ("a" * 70 + "(b, c)", 56, "a" * 70 + "…"),
    ],
)
def test_a_signature_is_cut_to_a_width(signature: str, width: int, expected: str) -> None:
    assert shorten_signature(signature, width) == expected


def test_a_stored_signature_ends_between_parameters() -> None:
    names = [f"parameter_{number}" for number in range(30)]
    text = limit_signature(f"def f({', '.join(names)})")
    assert 140 < len(text) <= 160
    assert re.fullmatch(r"def f\((parameter_\d+, )+…\)", text)


def longest_word(text: str) -> int:
    return max(map(len, re.findall(r"\S+", text)), default=0)


@given(
    text=st.one_of(
        st.text(max_size=200),
        st.sampled_from(SIGNATURES),
        st.text(alphabet="ab ,:=<>()[]{}*&\"'", max_size=200),
    ),
    width=st.integers(8, 170),
)
def test_any_text_can_be_cut(text: str, width: int) -> None:
    short = shorten_signature(text, width)
    assert len(short) <= max(width, longest_word(text) + 1)
    assert short == text or short.endswith(("…", ")")) or len(short) < len(text)
    assert len(limit_signature(text)) <= max(160, longest_word(text) + 1)
    assert shorten_signature(text, len(text)) == text
