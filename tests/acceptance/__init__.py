"""The command line as people and their programs meet it."""
