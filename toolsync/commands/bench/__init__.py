"""`bench`: runs, their records, their comparison and its page."""
