"""Running programs whose own variables lead another way to the gateway, by which it is not reached.

A program keeps the environment of its start. A proxy, or a file of certificates, that was named since leads those there
that are started now, and not it; nor does any later run of a tool whose first one leaves a program behind that makes
the requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from toolsync.doctor.checks.running import anew, is_homeless, named, not_seen, of_here
from toolsync.doctor.effective import network_of
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding
from toolsync.doctor.probed import Probed, came
from toolsync.probe.network import CERTIFICATES, Network
from toolsync.sentence import say
from toolsync.trace import answers

if TYPE_CHECKING:
    from toolsync.probe.step import Step
    from toolsync.probe.way import Way
    from toolsync.process import Process


def stranded(look: Look, probed: Probed | None) -> Iterator[Finding]:
    """Each running program of the tool that does not get to where one started now does; nothing of HTTP is asked.

    Nothing is said of what people start from a desktop: an editor asks a login shell for variables that its own process
    does not show, and has a proxy of its own settings.

    Args:
        look: the program.
        probed: what asking came to; None where nobody was asked.
    """
    ours = look.tool.processes.get(look.reader.name)
    if ours is None or ours.is_desktop or probed is None or probed.way.end is not None:
        return
    gone: dict[Network, Way] = {}
    found: list[tuple[Process, Finding]] = []
    for process, environ in of_here(look):
        if environ is None or is_homeless(environ) or not process.is_of_network():
            continue
        own = look.environ_from(environ)
        if _is_elsewhere(look, own):
            continue
        network = network_of(look, look.effective.base_url, own).towards(look.effective.url)
        if network == look.effective.network.towards(look.effective.url):
            continue
        if network not in gone:
            gone[network] = _way(look, network)
        end, names = gone[network].end, _differing(look, own)
        if end is not None and end.cause not in _NO_END and names:
            found.append((process, _told(look, process, own, names, end)))
    fix = anew(look, *(process for process, _ in found))
    yield from (replace(finding, fix=fix) for _, finding in found)


_NO_END = frozenset({"inconclusive", "tls_unchecked"})
"""Causes with which the program may get there all the same, or does: where it checks no certificate we send nothing."""


def _is_elsewhere(look: Look, own: Mapping[str, str]) -> bool:
    """Whether its own variables lead it to another gateway, as another terminal's do: our way says nothing of that."""
    trees = [(replace(one, environ=own) if one.environ is not None else one).tree for one in look.layers]
    return answers(look.reader, trees, own).get("base_url") != look.raw.get("base_url")


def _way(look: Look, network: Network) -> Way:
    from toolsync.probe.way import way

    return way(look.effective.url, network, look.world.session.places.root)


def _differing(look: Look, own: Mapping[str, str]) -> list[str]:
    """The variables that say which way it goes, and say another than here."""
    connection, rules = look.tool.connections[look.reader.name], look.effective.network.rules
    is_plain = look.effective.url.lower().startswith("http:")
    secrets = (*(connection.certificates or CERTIFICATES), *connection.unchecked)
    names = dict.fromkeys((*secrets, *(rules.http if is_plain else rules.https), *rules.straight))
    return [name for name in names if own.get(name) != look.environ.get(name)]


def _told(look: Look, process: Process, own: Mapping[str, str], names: Sequence[str], end: Step) -> Finding:
    """What it has otherwise, and where that leads."""
    lacks = [name for name in names if name not in own]
    lines = [line for name in lacks for line in not_seen(look, process, name).evidence]
    lines += [say("still_has_other", variable=name, program=named(look, process)) for name in names if name in own]
    lines.append(say("stranded_at", program=named(look, process), said=came(end)))
    return replace(not_seen(look, process, (*lacks, *names)[0]), evidence=tuple(lines))
