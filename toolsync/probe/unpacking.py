"""A body as it comes, decompressed as its header says, and never more of it than was asked for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

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

    layers, left = [_Layer(name) for name in reversed(_packings(answer))], limit
    for raw in answer.iter_raw():
        try:
            piece, is_cut = _through(layers, raw, limit)
        except zlib.error as error:
            raise httpx.DecodingError("the body is not compressed as its header says") from error
        yield piece[:left]
        left -= len(piece)
        if is_cut or left <= 0:
            return


def _packings(answer: httpx.Response) -> list[str]:
    names = (name.strip().lower() for name in answer.headers.get("content-encoding", "").split(","))
    return [name for name in names if name in ("gzip", "x-gzip", "deflate")]


class _Layer:
    """One packing, of gzip's or zlib's form, or bare."""

    def __init__(self, name: str) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._may_be_bare = name == "deflate"  # with some servers it is

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
        return piece, bool(self._inner.unconsumed_tail)


def _through(layers: list[_Layer], raw: bytes, limit: int) -> tuple[bytes, bool]:
    piece, is_cut = raw, False
    for layer in layers:
        piece, has_more = layer(piece, limit)
        is_cut = is_cut or has_more
    return piece, is_cut
