"""The bench: its client against servers of known truth, its figures, its records."""
