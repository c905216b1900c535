"""YAML and JSON files as text with places, and edits that keep every other byte. Pure."""
