"""Intents: what a command means to do, as plans and values; nothing here prints."""
