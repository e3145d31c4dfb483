"""Secrets in text: known ones in every spelling, and what has the shape of a provider's key; values in, values out."""

from toolsync.leaks.finder import Finder, Hit, Spot
from toolsync.leaks.secret import Known
from toolsync.leaks.shape import Shape, is_lookalike

__all__ = ["Finder", "Hit", "Known", "Shape", "Spot", "is_lookalike"]
