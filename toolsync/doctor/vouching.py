"""A file of certificates that the profile names, and that would do for a program which was not told of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding, Fix
from toolsync.doctor.probed import Probed, probe_finding
from toolsync.paths import at_home
from toolsync.probe.body import shown
from toolsync.profile import for_tool
from toolsync.sentence import say


def vouched(look: Look, probed: Probed) -> Iterator[Finding]:
    """Why the server is not trusted, with the file by which it is; nothing where that would not help.

    Args:
        look: the program.
        probed: what asking came to.
    """
    file, variable = _file(look), next(iter(look.tool.connections[look.reader.name].certificates), "")
    finding = probe_finding(probed, look.effective) if probed.way.end is not None else None
    if not file or not variable or finding is None or finding.cause not in _UNKNOWN:
        return
    from toolsync.probe.way import way

    network = replace(look.effective.network, ca_bundle=file)
    if way(look.effective.url, network, look.world.session.places.root).end is not None:
        return
    profile, called = _named(look), look.called
    held = look.world.session.shown(file)
    line = say("bundle_of_profile", file=held, profile=profile, called=called, variable=variable)
    fix = Fix(say("name_bundle_of_profile", variable=variable, file=shown(file), profile=profile, called=called))
    yield replace(finding, evidence=(line,), fix=fix)


_UNKNOWN = frozenset({"tls_untrusted_ca", "tls_chain_incomplete"})


def _file(look: Look) -> str:
    """What the profile has for the tool, as it can be opened; "" for nothing."""
    profile = look.world.profile
    bundle = for_tool(profile, look.tool.name).network.get("ca_bundle") if profile is not None else None
    return at_home(str(bundle), look.world.session.places.home) if bundle else ""


def _named(look: Look) -> str:
    return look.world.profile.name if look.world.profile is not None else ""
