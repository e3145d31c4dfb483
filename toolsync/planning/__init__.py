"""What an apply, an undo or a ping is about: which tools, which files, what stands in the way."""
