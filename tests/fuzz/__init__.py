"""Fuzzers: run by hand, never by pytest."""
