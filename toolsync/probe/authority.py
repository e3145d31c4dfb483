"""What vouches for a certificate: how others check that, and those that may sign others, in a file."""

from __future__ import annotations

import binascii
import re
import ssl
from collections.abc import Iterator
from pathlib import Path


def as_others_check(context: ssl.SSLContext) -> ssl.SSLContext:
    """The context without what Python alone checks, from 3.13 on, or trusts.

    No client refuses a root whose basic constraints are not critical, nor trusts any part of a chain.
    """
    context.verify_flags &= ~(ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN)
    return context


def is_authority(certificate: bytes) -> bool:
    """Whether a certificate, in DER, is one with which others may be signed."""
    return _AUTHORITY.search(certificate) is not None


_AUTHORITY = re.compile(rb"\x06\x03\x55\x1d\x13(?:\x01\x01\xff)?\x04[\x05-\x08]\x30[\x03-\x06]\x01\x01\xff")
"""The extension basicConstraints (2.5.29.19), critical or not, whose `cA` is true (RFC 5280, 4.2.1.9; X.690, DER)."""


def authorities(file: str) -> Iterator[bytes]:
    """Those in a file of certificates, in DER.

    Raises:
        OSError: it cannot be read.
    """
    for found in _CERTIFICATE.findall(Path(file).read_text(encoding="latin-1")):
        try:
            certificate = ssl.PEM_cert_to_DER_cert(found)
        except (binascii.Error, ValueError):
            continue
        if is_authority(certificate):
            yield certificate


_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
"""RFC 7468, 5.1."""
