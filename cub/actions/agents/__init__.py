"""Show the agents of this machine, and prove what each reads in a project."""
