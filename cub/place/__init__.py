"""Give each attempt a place of its own: a clone of the checkout, behind walls.

An attempt never has the person's files in its hands, so nothing has to be put back after it.
"""
