"""Where a program tried to connect to, as `strace` saw it, and which of that is known and why."""

from __future__ import annotations

import re
from collections.abc import Sequence

STRACE = (
    "strace",
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-s",
    "0",
    "-e",
    "trace=connect,sendto,sendmsg,sendmmsg",
    "-e",
    "signal=none",
)
"""`-s 0`: none of what is sent is written down. An address in a sendto or sendmsg is a datagram's: DNS, for one."""

KNOWN = {
    r"unix /run/user/\d+/bus": "the helper asks the keyring for the key",
    r"unix /var/run/nscd/socket": "the C library looks a user up",
    r"inet 127\.0\.0\.1:53": "the stage's own resolver, which knows no name; which were asked is judged apart",
    r"netlink": "the C library asks the kernel which addresses this machine has",
}
"""What else than the gateway is connected to, and why: nothing of it leaves the machine."""

_ADDRESS = re.compile(r"\{sa_family=AF_(?P<family>\w+)(?P<rest>[^}]*)")
_PATH = re.compile(r'sun_path=(@?"[^"]*")')
_PORT = re.compile(r"sin6?_port=htons\((\d+)\)")
_HOST = re.compile(r'inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"')


def targets(log: str) -> tuple[str, ...]:
    """Each address in strace's `log` once, as `unix PATH`, `inet HOST:PORT`, `inet6 [HOST]:PORT`, or its family."""
    return tuple(sorted({_target(match["family"], match["rest"]) for match in _ADDRESS.finditer(log)}))


def _target(family: str, rest: str) -> str:
    if family in {"UNIX", "LOCAL"} and (path := _PATH.search(rest)):
        return "unix " + path[1].replace('"', "")
    host, port = _HOST.search(rest), _PORT.search(rest)
    if host and port:
        return f"inet {host[1]}:{port[1]}" if host[1] else f"inet6 [{host[2]}]:{port[1]}"
    return family.lower()


def unknown(connected: Sequence[str], gateway: str) -> list[str]:
    """What was connected to beside the `gateway` (`HOST:PORT`) and what is `KNOWN`."""
    return [
        target
        for target in connected
        if target != f"inet {gateway}" and not any(re.fullmatch(known, target) for known in KNOWN)
    ]
