"""A body as it comes, decompressed as its header says, and never more of it than was asked for."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from toolsync.pattern import late

if TYPE_CHECKING:
    import httpx

ENCODINGS = "gzip, deflate"
"""What we say that we take."""


def unpacked(answer: httpx.Response, limit: int) -> Iterator[bytes]:
    """The body piece by piece; a small one may be a large one many times packed, so no step makes more than `limit`.

    Raises:
        httpx.DecodingError: it is not compressed as its header says.
    """
    import httpx

    layers, left = [_LAYERS[name]() for name in reversed(_packings(answer))], limit
    for raw in answer.iter_raw():
        try:
            piece, is_cut = _through(layers, raw, limit)
        except zlib.error as error:
            raise httpx.DecodingError(_OTHERWISE) from error
        yield piece[:left]
        left -= len(piece)
        if is_cut or left <= 0:
            return
    if any(layer.is_in_vain for layer in layers):
        raise httpx.DecodingError(_OTHERWISE)


_OTHERWISE = "the body is not compressed as its header says"


def _packings(answer: httpx.Response) -> list[str]:
    names = (name.strip().lower() for name in answer.headers.get("content-encoding", "").split(","))
    return [name for name in names if name in _LAYERS]


class _Layer:
    """One packing, of gzip's or zlib's form, or bare."""

    def __init__(self, *, may_be_bare: bool = False) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._may_be_bare = may_be_bare
        self._took = self._gave = False

    def __call__(self, raw: bytes, limit: int) -> tuple[bytes, bool]:
        """What comes out, and whether more would."""
        try:
            piece = self._inner.decompress(raw, limit)
        except zlib.error:
            if not self._may_be_bare:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            piece = self._inner.decompress(raw, limit)
        self._may_be_bare = self._may_be_bare and not raw
        self._took, self._gave = self._took or bool(raw), self._gave or bool(piece)
        return piece, bool(self._inner.unconsumed_tail)

    @property
    def is_in_vain(self) -> bool:
        """Whether something went in, and nothing came out: it is cut off, or was never packed so."""
        return self._took and not self._gave and not self._inner.eof


class _Foreign:
    """A packing that nothing here unpacks: what comes is left as it is, unless its beginning is plain to read."""

    is_in_vain = False

    def __init__(self) -> None:
        self._is_begun = False

    def __call__(self, raw: bytes, limit: int) -> tuple[bytes, bool]:
        """What came."""
        if not self._is_begun and _PLAIN.match(raw):
            raise zlib.error(_OTHERWISE)
        self._is_begun = self._is_begun or bool(raw.strip())
        return raw, len(raw) > limit


_PLAIN = late(rb"\s*(\{\s*[\"}]|\[\s*[\[{\"\]]|data:|event:|<!doctype|<html)", re.IGNORECASE)
"""How JSON, a stream and a page begin, and nothing that is packed."""

_LAYERS: Mapping[str, Callable[[], _Layer | _Foreign]] = {
    "gzip": _Layer,
    "x-gzip": _Layer,
    "deflate": partial(_Layer, may_be_bare=True),  # with some servers it is
    "br": _Foreign,
    "zstd": _Foreign,
}


def _through(layers: list[_Layer | _Foreign], raw: bytes, limit: int) -> tuple[bytes, bool]:
    piece, is_cut = raw, False
    for layer in layers:
        piece, has_more = layer(piece, limit)
        is_cut = is_cut or has_more
    return piece, is_cut
