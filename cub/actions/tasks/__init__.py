"""What people and agents do with tasks and the ledger."""
