"""Parse YAML and JSON files as text with places, and edit them so that every other byte stays."""
