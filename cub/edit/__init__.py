"""The pure editor: bytes in, bytes out; it knows no file system."""
