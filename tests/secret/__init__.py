"""Keys: the vaults, the references, the helper command, and the real Secret Service (marker `secret_service`)."""
