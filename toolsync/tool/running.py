"""What a template says of a tool's programs while they run: their way to the gateway, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from toolsync.proxies import Proxies
from toolsync.value import frozen

Setting = tuple[str, str]
"""A variable, and a word in its value; "" for any value."""


@frozen
class Runtime:
    """What runs a program, where it depends on that whose roots it trusts.

    Attributes:
        command: its name.
        version: what `COMMAND --version` says matches it.
        system_roots_by: by which the program trusts the system's roots too.
    """

    command: str
    version: str
    system_roots_by: tuple[Setting, ...]


@frozen
class Connection:
    """How a program gets to its gateway.

    Attributes:
        proxies: by which proxy.
        certificates: variables that name a file of certificates which it trusts beside the usual ones, best first.
        unchecked: variables by whose value it checks no certificate.
        refuses_authorities: whether it takes no certificate for a server's that is an authority's, and any that it
            trusts for a root: rustls, by webpki, does both.
        system_roots_by: variables, each with a word in it, by which it trusts the system's roots, and without which
            those alone that it brings along; None: it trusts the system's.
        runtime: what runs it, where with that it trusts the system's by more variables.
        replaces_roots: variables that name a file which it reads in place of the system's roots.
        older: the same of older versions, by what `PROGRAM --version` must match.
    """

    proxies: Proxies = field(default_factory=Proxies)
    certificates: tuple[str, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    refuses_authorities: bool = False
    system_roots_by: tuple[Setting, ...] | None = None
    runtime: Runtime | None = None
    replaces_roots: tuple[str, ...] = ()
    older: Mapping[str, Connection] = field(default_factory=dict)


@frozen
class Processes:
    """The running programs that hold what was read from the settings.

    Attributes:
        names: as `FileRow.running` spells them.
        is_live: whether a running one takes up changed settings by itself, so that only its environment stays old.
        is_desktop: whether people start it from a desktop, which sees no shell's variables.
        ends: the command that ends what it leaves running in the background; "" where it leaves nothing.
        live_as: words of the command line with which a running one takes up changed settings by itself.
        idle_as: words with which it makes no requests, so that it holds nothing.
        extension: of an editor, which the tool is: as the folder that it is installed in begins; "" for none.
    """

    names: tuple[str, ...]
    is_live: bool = False
    is_desktop: bool = False
    ends: str = ""
    live_as: frozenset[str] = frozenset()
    idle_as: frozenset[str] = frozenset()
    extension: str = ""
