"""Real clients of tools, run against a gateway on loopback with the settings that toolsync wrote for them."""
