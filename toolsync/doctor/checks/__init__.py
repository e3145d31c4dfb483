"""What can be told without asking anybody: one small function for each kind of trouble.

A finding that is `sure` holds whatever a probe says; one that is `likely` or `open` explains a request that fails, and
is of no interest where it succeeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from toolsync.doctor.checks import (
    address,
    anothers,
    credentials,
    exposure,
    keys,
    managers,
    patience,
    refreshing,
    running,
    standing,
    strictness,
    syntax,
    wanting,
)
from toolsync.doctor.look import Look
from toolsync.doctor.model import Finding

Check = Callable[[Look], Iterator[Finding]]

CHECKS: Mapping[str, Check] = {
    "syntax": syntax.syntax,
    "dropped": strictness.dropped,
    "duplicates": syntax.duplicates,
    "refused": syntax.refused,
    "managers": managers.takeover,
    "wanted": wanting.wanted,
    "provider": standing.provider,
    "managed": standing.managed,
    "drift": standing.drift,
    "incomplete": standing.incomplete,
    "address": address.form,
    "model": address.model_reference,
    "not_refreshed": refreshing.not_refreshed,
    "presence": keys.presence,
    "shape": keys.shape,
    "held_back": keys.held_back,
    "anothers": anothers.anothers,
    "helper": credentials.helper,
    "two": credentials.two,
    "foreign": credentials.foreign,
    "organisation": credentials.organisation,
    "login": credentials.shadowed_login,
    "timeout": patience.timeout,
    "processes": running.processes,
    "desktop": refreshing.desktop,
    "repositories": exposure.repositories,
    "modes": exposure.modes,
}
"""Every check by its name, in the order in which they are made."""


def findings(look: Look) -> tuple[Finding, ...]:
    """All that the checks find at one program of a tool, in their order."""
    return tuple(finding for check in CHECKS.values() for finding in check(look))
