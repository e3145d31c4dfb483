"""Measurements of a gateway or an engine that can be trusted: a client that costs little, a record, a comparison."""
