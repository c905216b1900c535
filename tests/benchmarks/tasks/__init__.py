"""What tasks, ledger and prompts cost at sizes that nobody should have."""
