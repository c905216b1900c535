"""Read the output of test runners, compilers and linters: text in, failing items out."""
