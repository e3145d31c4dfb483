"""`doctor`: why a tool does not get through."""
