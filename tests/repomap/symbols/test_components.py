"""Components of Vue and Svelte, and the scripts in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cub.repomap.symbols.components import component, scripts_of

VUE = b"""<template>
  <Button @click="go">x</Button>
</template>
<script lang="ts" setup>
import Button from './Button.vue'
const local = 1
</script>
<SCRIPT>
export function helper(a: number): void {}
</SCRIPT>
<style>a { b: c }</style>
"""


def test_a_component_is_called_like_its_file_and_gives_what_it_exports() -> None:
    found = component("src/views/UserCard.vue", VUE) or ()
    assert [(d.name, d.line, d.signature) for d in found if d.exported] == [
        ("UserCard", 1, "component UserCard"),
        ("helper", 9, "function helper(a: number): void"),
    ]


def test_a_component_without_a_script_is_one_too() -> None:
    (found,) = component("a/Plain.svelte", b"<h1>x</h1>") or ()
    assert found.name == "Plain"


@given(st.text("<>scriptSCRIPT/ \nab", max_size=200))
def test_lines_keep_their_numbers_in_any_text(text: str) -> None:
    assert scripts_of(text.encode()).count(b"\n") <= text.count("\n")


def test_a_script_that_is_never_closed_goes_to_the_end() -> None:
    assert scripts_of(b"<p>\n<script>\nlet a") == b"\n\nlet a"


def test_many_openings_cost_no_more_than_their_bytes() -> None:
    assert scripts_of(b"<script" * 100_000) == b""
