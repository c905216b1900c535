"""Serve a scripted model on the loopback address, and record what agents send to it."""
