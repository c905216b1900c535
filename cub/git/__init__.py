"""Ask git about a folder, and read its files and commits."""
