"""The key by environment: `env`, `exec`, `hook`."""
