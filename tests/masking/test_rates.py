"""The samples: what is masked of them, and that docs/reference/masking.md says so."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import DOCS
from tests.docs.test_tables import rows as table
from tests.masking.innocents import INNOCENTS
from tests.masking.rates import is_leaked, is_lost, rates, rows
from tests.masking.samples import SECRETS, Sample

PAGE = DOCS / "reference" / "masking.md"
# What no pattern tells from words and from code; the page names them as its limits.
_KNOWN_LEAKS = {"password=swordfish", "password: swordfish", "auth=('me', 'hunter2')"}
_KNOWN_WORDS = "mnemonic: "


def _is_known(sample: Sample) -> bool:
    return sample.text in _KNOWN_LEAKS or sample.text.startswith(_KNOWN_WORDS)


def test_there_are_enough_samples() -> None:
    assert len(SECRETS) >= 110
    assert len(INNOCENTS) >= 90
    assert all(sample.secrets for sample in SECRETS)


@pytest.mark.parametrize("sample", SECRETS, ids=lambda one: one.kind)
def test_secrets_are_masked_but_for_known_ones(sample: Sample) -> None:
    assert is_leaked(sample) == _is_known(sample), sample.text


@pytest.mark.parametrize("sample", INNOCENTS, ids=lambda one: one.kind)
def test_innocent_texts_stay_but_for_known_ones(sample: Sample) -> None:
    assert is_lost(sample) == _is_known(sample), sample.text


def test_the_page_tells_the_samples_and_both_rates() -> None:
    assert [*table(PAGE, "Samples")] == rows()
    leaked, lost = rates()
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"\*\*([\d.]+) %\*\*", text) == [str(leaked), str(lost)]
