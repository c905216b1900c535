"""What test runners, compilers and linters tell: text in, failing items out."""
