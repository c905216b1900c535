"""The stores of a project: its tasks and its ledger, one JSON object a line, in plain files."""
