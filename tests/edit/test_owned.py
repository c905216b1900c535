from __future__ import annotations

import pytest

from cub.edit.owned import Comment, seal, unseal

BODY = "# Run loop\n\nText.\n"


@pytest.mark.parametrize("comment", ["<!-- {} -->", "# {}"])
def test_a_sealed_file_is_known_again(comment: Comment) -> None:
    data = seal(BODY, 3, comment)
    found = unseal(data)
    assert found is not None
    assert (found.version, found.intact) == (3, True)
    assert data.decode().endswith("\n\n" + BODY)


@pytest.mark.parametrize(
    ("old", "new"), [(b"\n", b"\r\n"), (b"Text.", b"Text.  "), (b" -->\n\n", b" -->\n\n\n")]
)
def test_a_formatters_pass_leaves_it_intact(old: bytes, new: bytes) -> None:
    found = unseal(seal(BODY, 1, "<!-- {} -->").replace(old, new))
    assert found is not None
    assert found.intact


def test_an_edit_breaks_the_seal_and_no_header_means_no_seal() -> None:
    found = unseal(seal(BODY, 1, "# {}").replace(b"Text.", b"Mine."))
    assert found is not None
    assert not found.intact
    assert unseal(BODY.encode()) is None
    assert unseal(b"") is None
