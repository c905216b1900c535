"""Parse the command line, and print what actions return."""
