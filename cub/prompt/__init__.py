"""Render text for agents from the templates that ship with cub."""
