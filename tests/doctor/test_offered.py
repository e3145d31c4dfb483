"""Every cause of which a command of ours is spoken: `--fix` offers one, or it is said here why it does not."""

from __future__ import annotations

import re
from itertools import product

from tests.doctor.test_mended import MISSING, OWN, PROFILE, effective
from toolsync.causes import Cause, every
from toolsync.doctor.model import Finding, Fix, Where
from toolsync.doctor.remedy import fix
from toolsync.doctor.remedy.standing import Standing

OURS = re.compile(r"`toolsync (apply|check|init|key (rotate|set)|profile edit)\b")

NOT_OFFERED = {
    **dict.fromkeys(("config_parse_error", "config_duplicate_key"), "the file is mended by hand, and then applied"),
    "foreign_manager": "a person decides which of the two programs stays",
    "keyring_unavailable": "a person chooses where the key is to be kept",
    "param_unsupported": "it may stand in the tool's own settings, and taking it out may not be wanted",
    "quota_exhausted": "money is what is missing; another key is told beside it",
    **dict.fromkeys(("connect_timeout", "proxy_auth_required"), "nobody here knows the proxy"),
    **dict.fromkeys(("tls_untrusted_ca", "tls_chain_incomplete"), "nobody here has the certificate"),
    "tls_hostname_mismatch": "nobody here knows the address",
    "sample_interval_too_long": "bench says it, of a measurement",
}

FOUND = {"address": "https://gw.example/v2", "near": "another", "place": "PLACE"}
TAKES = frozenset({"timeout_seconds", "no_proxy", "stream"})


def test_every_cause_with_a_command_of_ours_is_offered_or_there_is_a_reason() -> None:
    told = [cause for cause in every() if OURS.search(cause.remedy)]
    assert {cause.slug for cause in told if not _is_offered(cause)} == NOT_OFFERED.keys()


def test_a_profile_that_is_edited_is_applied_too() -> None:
    chains = [(found.argv, *found.then) for cause in every() for found in _found(cause) if found.argv]
    assert {chain[0][0] for chain in chains} == {"apply", "check", "key", "profile"}
    assert {chain[-1][0] for chain in chains if chain[0][0] == "profile"} == {"apply"}


def _is_offered(cause: Cause) -> bool:
    return any(found.argv for found in _found(cause))


def _found(cause: Cause) -> list[Fix]:
    """What would be printed: for a tool that is set, and one that is not; with a key, and without."""
    standings = [
        Standing(is_set, TAKES, writes=writes, key=key)
        for is_set, writes in product((False, True), repeat=2)
        for key in (lambda: OWN, lambda: MISSING)
    ]
    finding = Finding(cause.slug, values=FOUND, where=Where("user", "x", "/h/x", 1))
    found = (fix(effective(), finding, PROFILE, one) for one in standings)
    return [one for one in found if one is not None]
