"""A certificate that holds by the system's roots alone, and a program that does not read these."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from toolsync.doctor.checks.saying import values
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.probed import Probed
from toolsync.doctor.vouching import vouched
from toolsync.sentence import say
from toolsync.tool import Connection
from toolsync.tool.running import Setting


def unrooted(look: Look, probed: Probed | None) -> Iterator[Finding]:
    """That the program takes the server for an unknown one, where our own requests do not.

    A company's root that stands in the system's store, as its administrators put it there, is read by most programs;
    a file that the profile names, by those that were told of it.

    Args:
        look: the program.
        probed: what asking came to; None where nobody was asked.
    """
    if probed is None or look.effective.network.unchecked:
        return
    yield from vouched(look, probed)
    if not probed.way.is_by_system:
        return
    issuer = probed.way.certificate.issuer if probed.way.certificate is not None else ""
    variable = _instead(look)
    if variable:
        line = say("roots_replaced", issuer=issuer, called=look.called, variable=variable)
    elif _is_alone(look):
        line = say("roots_unread", issuer=issuer, called=look.called)
    else:
        return
    found = values(look, host=urlsplit(look.effective.url).netloc, issuer=issuer)
    yield Finding("tls_untrusted_ca", "sure", (line,), found, fix=_named(look))


def _instead(look: Look) -> str:
    """The variable whose file it reads in place of the system's roots; "" for none."""
    names = look.tool.connections[look.reader.name].replaces_roots
    return next((name for name in names if look.environ.get(name) and Path(look.environ[name]).is_file()), "")


def _is_alone(look: Look) -> bool:
    """Whether it trusts nothing but the roots that it brings along."""
    own = look.tool.connections[look.reader.name]
    return _brings(own, look) or any(
        _brings(older, look) and re.search(version, look.world.version(command)) is not None
        for version, older in own.older.items()
        for command in look.tool.commands[:1]
    )


def _brings(connection: Connection, look: Look) -> bool:
    by, runtime = connection.system_roots_by, connection.runtime
    if by is None or _is_set(look, by):
        return False
    with_runtime = runtime is not None and _is_set(look, runtime.system_roots_by)
    return runtime is None or not with_runtime or not re.search(runtime.version, look.world.version(runtime.command))


def _is_set(look: Look, settings: Sequence[Setting]) -> bool:
    return any(look.environ.get(name) and word in look.environ[name] for name, word in settings)


_FILES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where systems keep all their roots in one file: Debian and Arch, Fedora, openSUSE, Alpine and BSD."""


def _named(look: Look) -> Fix | None:
    """The system's own file, as the program can be told of it; None where there is none, or no variable for it."""
    import ssl  # which only doctor's requests need

    root = look.world.session.places.root
    places = (root / name[1:] for name in (*_FILES, ssl.get_default_verify_paths().openssl_cafile))
    file = next((one for one in places if one.is_file()), None)
    variable = next(iter(look.tool.connections[look.reader.name].certificates), "")
    if file is None or not variable:
        return None
    return Fix(
        say("name_system_roots", variable=variable, file=str(Path("/") / file.relative_to(root)), called=look.called)
    )
