"""Options as fields of a dataclass: what the command gets, and what its help lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from cub.actions.command_options import option
from cub.cli.parameters import make_option, take_options


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    labels: tuple[str, ...] = option("--label -l WORD", "Add a label.", ())
    note: str = "not an option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bread(Base):
    loaves: int | None = option("--loaves N", "Bake N loaves.", None, min=1)
    is_dark: bool = option("--dark", "Bake it longer.", False)


def bake(*words: str) -> tuple[Bread, str]:
    """What a command gets for these words."""
    given: list[tuple[Bread, str]] = []

    def command(
        bread: Bread, day: Annotated[str, make_option("--day", "Bake on this day.")] = "Monday"
    ) -> None:
        given.append((bread, day))

    app = typer.Typer(add_completion=False)
    command.__annotations__ |= {"bread": Bread}
    app.command()(take_options(command))
    built = typer.main.get_command(app)
    with built.make_context("bake", list(words)) as context:
        built.invoke(context)
    return given[0]


def test_without_options_each_field_has_its_default() -> None:
    assert bake() == (Bread(), "Monday")


def test_options_are_the_fields_and_what_is_repeated_is_a_tuple() -> None:
    words = ("-l", "rye", "--label", "hot", "--loaves", "3", "--dark", "--day", "Friday")
    bread = Bread(labels=("rye", "hot"), loaves=3, is_dark=True)
    assert bake(*words) == (bread, "Friday")


def test_a_value_outside_of_the_limits_is_refused() -> None:
    with pytest.raises(typer.TyperException):
        bake("--loaves", "0")


def test_own_options_come_before_those_of_the_base() -> None:
    app = typer.Typer(add_completion=False)

    def command(bread: Bread) -> None:
        """Bake."""

    command.__annotations__ |= {"bread": Bread}
    app.command()(take_options(command))
    names = [one.opts for one in typer.main.get_command(app).params]
    assert names[:3] == [["--loaves"], ["--dark"], ["--label", "-l"]]


@pytest.mark.parametrize(
    ("spec", "names", "placeholder"),
    [
        ("--once", ("--once",), None),
        ("-p --prompt TEXT", ("-p", "--prompt"), "TEXT"),
        ("--output -o FILE", ("--output", "-o"), "FILE"),
    ],
)
def test_names_and_the_placeholder_are_one_text(
    spec: str, names: tuple[str, ...], placeholder: str | None
) -> None:
    info = make_option(spec, "Do it.")
    assert ((info.default, *info.param_decls), info.metavar) == (names, placeholder)
