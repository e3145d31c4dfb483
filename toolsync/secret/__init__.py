"""Where keys are kept and how they are had: the system's keyring, key references, and the command that tools run."""
