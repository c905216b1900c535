"""Letters as they look: those of other alphabets that a reader takes for Latin ones are these."""

# ruff: noqa: RUF001 - letters that can be mistaken are what this is about

from __future__ import annotations

import unicodedata

_ALIKE = (
    # From Unicode's confusables.txt, for the letters of the titles; upper case apart, because a
    # capital eta looks like an H, and a small one like an n.
    ("a", "АаΑαꭺᎪꓮⲀⲁɑᴀ"), ("c", "СсϹϲᏟꓚⲤⲥᴄ"), ("e", "ЕеҽΕεᎬꓰⲈⲉᴇ℮"), ("g", "ԌԍᏀꓖɡɢցǤǥ"),
    ("h", "НнҺһΗᎻꓧⲎⲏʜհႹ"), ("i", "ІіӀӏΙιᎥꓲⲒⲓıɩɪlLᏞꓡʟ1ⅼ"), ("k", "КкΚκᏦꓗⲔⲕᴋ"),
    ("m", "МмΜᎷꓟⲘⲙᴍ"), ("n", "ΝηпոռꓠⲚⲛɴ"), ("o", "ОоΟοσՕօꓳⲞⲟᴏ0"), ("p", "РрΡρᏢꓑⲢⲣᴘ"),
    ("r", "ᎡᏒꓣʀг"), ("s", "ЅѕᏚՏꓢꜱ5ς"), ("t", "ТтΤτᎢꓔⲦⲧᴛ"), ("u", "ՍսυꓴᴜⲨ"),
    ("v", "ѴѵνᏙꓦᴠ"), ("w", "ԜԝωᎳꓪᴡա"), ("x", "ХхΧχꓫⲬⲭ"),
)  # fmt: skip
_FOLDED = {ord(other): latin for latin, others in _ALIKE for other in others}
# Letters in squares and circles, and those of flags, which no normal form takes apart.
_FOLDED |= {
    start + at: "i" if letter == "l" else letter
    for start in (0x1F150, 0x1F170, 0x1F1E6)
    for at, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
}
_FILLERS = dict.fromkeys(map(ord, "\u115f\u1160\u3164\uffa0"))  # letters that show nothing


def folded_letters(text: str) -> str:
    """The letters and digits of a text, as Latin ones in lower case where they look like these."""
    known = text.translate(_FILLERS).translate(_FOLDED)
    plain = unicodedata.normalize("NFKD", known).translate(_FOLDED).casefold().translate(_FOLDED)
    return "".join(filter(str.isalnum, plain))
