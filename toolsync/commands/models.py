"""`models`: what the gateway serves."""

from __future__ import annotations

from toolsync.commands.pinging import named, named_problem, network_of
from toolsync.facts import facts
from toolsync.planning.headers import header_value
from toolsync.probe import PingRequest, list_models
from toolsync.result import DONE, REFUSED, Message, Result
from toolsync.session import Session


def models(session: Session, name: str | None) -> Result:
    """The models in the gateway's order.

    Raises:
        ProfileError, SecretError: the profile or its key cannot be had.
    """
    profile = session.profiles().get(name)
    base = str(facts(profile)["openai_url"].value)
    key = session.secret(profile.key)
    headers = {name: header_value(session, value) for name, value in profile.request.get("headers", {}).items()}
    found = list_models(PingRequest("openai-chat", base, "", key, headers, network_of(session, profile, base)))
    data = {
        "profile": profile.name,
        "address": found.url,
        "cause": found.cause,
        "certainty": found.certainty,
        "status": found.status,
        "models": list(found.ids),
    }
    if found.problem:
        message = Message("problem", f"{found.url}: {named_problem(found)}", named(found.hint, profile))
        return Result("models", data, (message,), REFUSED)
    warnings = (Message("warning", found.warning),) if found.warning else ()
    return Result("models", data, warnings, DONE)
