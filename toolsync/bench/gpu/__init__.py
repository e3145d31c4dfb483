"""GPU memory beside a run: `Watch(Wish(…))` is started and stopped, and lays what it saw over the rungs."""

from toolsync.bench.gpu.rungs import peak_mib, serving
from toolsync.bench.gpu.watch import Watch, Watched, Wish

__all__ = ["Watch", "Watched", "Wish", "peak_mib", "serving"]
