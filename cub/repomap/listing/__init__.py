"""Which files a project has, and what kind of file each of them is."""
