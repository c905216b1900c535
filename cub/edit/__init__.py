"""Edit instruction files purely: bytes in, bytes out, without a file system."""
