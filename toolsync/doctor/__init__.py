"""Why a tool does not reach its gateway: what it will really ask, what came of asking, and the one cause."""
