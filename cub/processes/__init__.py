"""The one runner of commands that aren't cub's own: nothing that they start outlives them.

Import from its modules: this one stays empty, since every keeper (keeper.py) pays for it.
"""
