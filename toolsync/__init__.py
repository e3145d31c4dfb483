"""toolsync: one gateway, one key, every AI coding tool."""

__version__ = "0.1.0"
