"""Run tasks: claim them, have an agent work on them, check the files, commit or restore them."""
