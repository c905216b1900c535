"""Describe agents: one module for each that cub can start, and the tables of all of them."""
