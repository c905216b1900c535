"""List the files of a project, and tell what kind of file each of them is."""
