"""The commands about keys: kept, listed, turned over."""
