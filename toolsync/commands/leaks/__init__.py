"""`check`: where a key lies in clear, and what becomes of it."""
