"""What is planned, carried out and remembered."""
