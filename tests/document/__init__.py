"""Documents: laws, tables and corpora."""
