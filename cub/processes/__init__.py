"""Run commands that aren't cub's own, so that nothing that they start outlives them.

This module stays empty, since every keeper (keeper.py) imports it.
"""
