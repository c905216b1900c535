"""Modules of Lua: the table that a file returns is no type, but what holds its definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from cub.repomap.symbols.definition import Definition, Kind


def of_module(found: Iterable[Definition], returned: Collection[str]) -> list[Definition]:
    """The definitions with the members of returned tables as those of the file itself.

    A table with a method (`a:b`) is a class that stands in a file of its own, and stays one. What
    may be a function or not (`a.b = c.d`) counts in modules alone.
    """
    rows = list(found)
    classes = {one.member_of for one in rows if f"{one.member_of}:" in one.signature}
    modules = {one.member_of for one in rows if one.member_of in returned} - classes
    return [_hoisted(one, modules) for one in rows if _counts(one, modules)]


def _hoisted(one: Definition, modules: Collection[str]) -> Definition:
    if one.member_of not in modules:
        return one
    kind: Kind = "function" if one.kind == "method" else one.kind
    return one._replace(member_of="", kind=kind)


def _counts(one: Definition, modules: Collection[str]) -> bool:
    if one.member_of:
        return one.kind == "method" or one.member_of in modules
    return one.name not in modules
