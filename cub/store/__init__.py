"""Keep the tasks and the ledger of a project: one JSON object a line, in plain files."""
