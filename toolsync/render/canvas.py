"""What plots are drawn on: matplotlib, whatever its owner's settings are, and SVG for a page.

A colour is an attribute of its shape, so that a style sheet can give it another one in the dark. No text from outside
is drawn.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from toolsync.errors import UsageError
from toolsync.render.svg import cleaned
from toolsync.value import frozen

INK, FAINT, BAND = "#1f2328", "#d1d9e0", "#eff2f5"
BEFORE, AFTER = "#b35900", "#0969da"
GOOD, BAD, EVEN = "#1a7f37", "#d1242f", "#59636e"
COLOURS = (INK, FAINT, BAND, BEFORE, AFTER, GOOD, BAD, EVEN)
"""All that are used, as a page in the light has them."""

_WIDTH, HEIGHT = 4.2, 2.7
"""In inches: so small that the letters can be read where a telephone's width is all there is."""


@frozen
class Figure:
    """A plot.

    Attributes:
        name: fit for an id.
        title: what it shows.
        text: how to read it.
        svg: an element, without a namespace.
    """

    name: str
    title: str
    text: str
    svg: str


@frozen
class Frame:
    """What a figure is called, and how it is laid out; `runs` are named above it where there are several."""

    name: str
    title: str
    text: str = ""
    runs: int = 1
    panels: int = 1
    height: float = HEIGHT


class Canvas:
    """Makes figures with matplotlib."""

    def __init__(self, prefix: str = "") -> None:
        """Load it.

        Args:
            prefix: of the figures' names.

        Raises:
            UsageError: it is not installed.
        """
        self._library = library()
        self._prefix = prefix

    def figure(self, frame: Frame, onto: Callable[..., None]) -> Figure:
        """What `onto` draws on the panels, as an element of a page."""
        with self._library.rc_context():
            self._library.rcdefaults()
            self._library.rcParams.update(_SETTINGS)
            figure = import_module("matplotlib.figure").Figure(figsize=(_WIDTH, frame.height), layout="constrained")
            panels = figure.subplots(frame.panels, squeeze=False)[:, 0]
            onto(*panels)
            if frame.runs > 1:
                panels[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=frame.runs)
            raw = io.BytesIO()
            figure.savefig(raw, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        name = f"{self._prefix}{frame.name}"
        return Figure(name, frame.title, frame.text, cleaned(raw.getvalue(), name, frame.title))


_SETTINGS: Mapping[str, Any] = {
    "svg.fonttype": "none",  # letters, which a reader can search for and enlarge, not their outlines
    "svg.hashsalt": "toolsync",  # the same figures, the same page
    "font.size": 9,
    "axes.edgecolor": EVEN,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": EVEN,
    "xtick.labelcolor": INK,
    "ytick.color": EVEN,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "savefig.transparent": True,
}


def library() -> Any:
    """Matplotlib, which says nothing of its own.

    Raises:
        UsageError: it is not installed.
    """
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import_module("matplotlib.backends.backend_svg")
        return import_module("matplotlib")
    except ImportError as error:
        raise UsageError(
            "bench report draws with the library matplotlib, which is not installed",
            hint="`pipx inject toolsync matplotlib`, or `pip install matplotlib` beside it; `bench show` needs none.",
        ) from error


def scale(axes: Any, seen: Sequence[float]) -> None:
    """Around what was seen, in powers of ten where the range is too wide to be seen otherwise."""
    least = max(_LEAST_MS, min((value for value in seen if value > 0), default=1.0))
    if not seen or max(seen) <= _WIDE_RANGE * least:
        room = 0.1 * (max(seen) - min(seen)) if seen else 0
        axes.set_ylim(*((max(0, min(seen) - room), max(seen) + room) if room else (0, None)))
        return
    ticker = import_module("matplotlib.ticker")
    axes.set_yscale("log", nonpositive="clip")
    axes.set_ylim(least / 1.3, max(seen) * 1.3)
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.yaxis.set_minor_locator(ticker.NullLocator())


_WIDE_RANGE = 12
_LEAST_MS = 0.01
"""Lower, a scale in powers of ten would show little else."""


def concurrencies(axes: Any, steps: Sequence[int]) -> None:
    """Steps along the axis, each as far from the next."""
    every = -(-len(steps) // 10) or 1  # more would stand over each other
    axes.set_xticks(range(0, len(steps), every), [str(step) for step in steps[::every]])
    axes.set_xlim(-0.6, len(steps) - 0.4)
    axes.set_xlabel("concurrency")
