"""What is tried besides a tool's own request: another API, address or header; other headers, another body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from toolsync.address import PATHS, Dialect
from toolsync.masking import Secret
from toolsync.probe.body import is_page
from toolsync.probe.candidates import Candidate
from toolsync.probe.exchange import KEY_HEADERS, Exchange, What
from toolsync.probe.request import queried
from toolsync.probe.talk import Talk


def other_api(talk: Talk, dialect: Dialect) -> Exchange | None:
    """Another dialect's route at the same base, with an empty question, which costs nothing anywhere."""
    base = talk.request.base.strip().rstrip("/")
    root = base.removesuffix("/v1")
    is_versioned = root != base or talk.request.dialect == "anthropic-messages"
    url = f"{root}/v1" if is_versioned and dialect != "anthropic-messages" else root
    return _empty(talk, "other API", queried(url + PATHS[dialect], talk.request.query))


def own_api(talk: Talk) -> Exchange | None:
    """The tool's own route with an empty question, which costs nothing: whether it is there."""
    return _empty(talk, "own API", talk.request.url)


def without_key(talk: Talk) -> Exchange | None:
    """The same without any key."""
    came = talk.tries("no key", "POST", talk.request.url, talk.headers({}))
    return came[0] if came is not None else None


def other_address(talk: Talk, candidate: Candidate) -> Exchange | None:
    """The list of models at another address of the same origin; None where no more may be asked.

    Below `/anthropic` few gateways list any: there the tool's own route is asked.
    """
    if candidate.base.endswith("/anthropic"):
        return other_route(talk, candidate.base)
    url = talk.models_url(candidate.base)
    came = talk.tries("other address", "GET", url, talk.headers(talk.request.credentials))
    if came is None:
        return None
    exchange, answer = came
    if answer is not None and exchange.is_ok and is_page(answer):
        return replace(exchange, cause="path_missing_v1", certainty="open")
    return exchange


def other_route(talk: Talk, base: str) -> Exchange | None:
    """The tool's own route at another address of the same origin, with an empty question: whether it is there."""
    url = base + talk.request.url.strip().removeprefix(talk.request.base.strip().rstrip("/"))
    return _empty(talk, "other address", url)


def _empty(talk: Talk, what: What, url: str) -> Exchange | None:
    came = talk.tries(what, "POST", url, talk.headers(talk.request.credentials))
    return came[0] if came is not None else None


def other_header(talk: Talk) -> tuple[str, Exchange] | None:
    """The same key in the headers that others read: in all of them at once, and if that is taken, in which."""
    first = next(iter(talk.request.credentials.items()), None)
    if first is None:
        return None
    usual, *rare = [header for header in KEY_HEADERS if header != first[0]]
    came = _with_headers(talk, dict.fromkeys((usual, *rare), first[1]))
    if came is None:
        return None
    if not is_let_in(talk, came):
        return usual, came
    for header in (usual, *rare[:-1]):
        alone = _with_headers(talk, {header: first[1]})
        if alone is None:
            return header, came
        if is_let_in(talk, alone):
            return header, alone
    return rare[-1], came


def _with_headers(talk: Talk, credentials: Mapping[str, Secret]) -> Exchange | None:
    sent = talk.headers(credentials, with_own=True)  # else it might be one of those that was refused
    url = talk.models_url(talk.request.base)
    if talk.models:  # which are open to everybody: an empty question costs nothing either
        came = talk.tries("other header", "POST", talk.request.url, sent)
    else:
        came = talk.tries("other header", "GET", url, sent)
    return came[0] if came is not None else None


def is_let_in(talk: Talk, came: Exchange) -> bool:
    """Whether a key was taken: there is an answer, or the empty question is what is refused."""
    return came.is_ok or (bool(talk.models) and came.status in (400, 422))


def other_limit(talk: Talk) -> Exchange | None:
    """The question with its limit under the other name, where it may cost once more."""
    if not talk.may(is_billable=True):
        return None
    name = "max_tokens" if talk.limit_name == "max_completion_tokens" else "max_completion_tokens"
    return talk.ask(what="other limit", limit_name=name)


def without_own_headers(talk: Talk) -> Exchange | None:
    """The question without the headers that the tool's settings add."""
    return talk.ask(what="plain headers", has_own_headers=False) if talk.may(is_billable=True) else None


def as_coding_tool(talk: Talk) -> Exchange | None:
    """The question with what a coding tool sends along: its kind of headers, and a body with code in it."""
    if not talk.may(is_billable=True):
        return None
    text = _CODE * (_BODY_BYTES // len(_CODE))
    if talk.request.streams:  # some gateways take nothing else
        return talk.listened("deep", text=text, more=_CLIENT_HEADERS)
    headers = {**talk.headers(talk.request.credentials, with_own=True), **_CLIENT_HEADERS}
    return talk.asks("deep", talk.question(text=text), headers)


_BODY_BYTES = 40_000

_CLIENT_HEADERS = {
    "user-agent": "claude-cli/2.1 (external, cli)",
    "x-app": "cli",
    "x-stainless-lang": "js",
    "x-stainless-runtime": "node",
}
"""The kind of headers that coding tools send along; edges refuse some clients by them."""

_CODE = """\
<script>alert(document.cookie)</script>
SELECT name FROM users WHERE id = 1 OR '1'='1'; -- ../../etc/passwd
def run(path): return subprocess.check_output(["sh", "-c", f"cat {path} | grep root"])
import os; os.system("curl http://localhost/install.sh | bash; rm -rf /tmp/x"); eval("1")
<?php echo $_GET["x"]; ?> <img src=x onerror=alert(1)> UNION SELECT 1; DROP TABLE t; ${jndi:ldap://x}
"""
"""What firewalls that look into bodies take for an attack, and coding tools send all day."""
