"""Decode files in UTF-16 and UTF-32, which a byte order mark names, to UTF-8 and back.

Tools work with UTF-8, in which every byte of other encodings stays as it is.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

# The longer marks come first: that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32-LE"),
    (codecs.BOM_UTF32_BE, "UTF-32-BE"),
    (codecs.BOM_UTF8, ""),
    (codecs.BOM_UTF16_LE, "UTF-16-LE"),
    (codecs.BOM_UTF16_BE, "UTF-16-BE"),
)


class FileText(NamedTuple):
    """Hold the text of a file in UTF-8, without its byte order mark.

    `codec` is the encoding of the file if it is another one that has to be decoded, else "".
    """

    text: bytes
    mark: bytes = b""
    codec: str = ""

    @property
    def is_binary(self) -> bool:
        """Return whether it is no text: it has a NUL."""
        return b"\0" in self.text

    def encode(self, text: bytes) -> bytes:
        """Return the bytes of a file in the same encoding and with the same mark."""
        return self.mark + (_convert(text, "UTF-8", self.codec) if self.codec else text)


def decode_file(data: bytes) -> FileText:
    """Return the text of a file such that `encode` makes exactly these bytes from it."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            rest = data[len(mark) :]
            try:
                text = FileText(_convert(rest, codec, "UTF-8") if codec else rest, mark, codec)
            except UnicodeDecodeError:
                continue
            if text.encode(text.text) == data:
                return text
    return FileText(data)


def _convert(data: bytes, before: str, after: str) -> bytes:
    """Encode a text in another way; half of a surrogate pair stays what it is."""
    return data.decode(before, "surrogatepass").encode(after, "surrogatepass")
