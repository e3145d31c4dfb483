"""What of the profile's settings, or of the tool's, must change: its address, model and limit, and the way there."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from urllib.parse import urlsplit

from toolsync.doctor.command import applied, commands, spelled
from toolsync.doctor.model import Effective, Finding, Fix
from toolsync.doctor.remedy.standing import Standing
from toolsync.profile import Profile, for_tool
from toolsync.sentence import Sentence, Text, say

_PATIENCE_SECONDS = 120
"""What slow models, and gateways that wait for their own, are commonly given."""
_MOST_SECONDS = 6 * 3600
"""Nobody waits longer."""


def again(effective: Effective, _finding: Finding, _profile: Profile, _standing: Standing) -> Fix:
    """The tool is to be set once more."""
    return commands(applied(effective.tool))


def outside(effective: Effective, finding: Finding, _profile: Profile, standing: Standing) -> Fix:
    """What leads the tool elsewhere is taken out, where toolsync does not set that place."""
    where = finding.where
    if where is None or standing.writes:
        return commands(applied(effective.tool))
    return standing.taken_out() or Fix(say("take_out", place=finding.values.get("place", where.slot)))


def address(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The address at which something answered, if one did; of its protocol alone, where the others' is right."""
    found = str(finding.values.get("address", ""))
    protocol = "anthropic" if effective.dialect == "anthropic-messages" else "openai"
    is_apart = "apart" in finding.values or protocol in profile.urls
    setting = f"urls.{protocol}" if is_apart else "base_url"
    return _edited(effective, profile, standing, f"{setting}={found}") if found else None


def only_again(_effective: Effective, _finding: Finding, _profile: Profile, _standing: Standing) -> None:
    """Where the profile's own address is meant, people judge: who answers there is not for us to say."""


def outside_of_here(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The machine around this one named, where it has the port open: what answers there is for people to judge."""
    found = address(effective, finding, profile, standing)
    return Fix(say("name_the_host", address=finding.values["address"], command=found.text)) if found else None


def other_scheme(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """The same address by the other scheme."""
    scheme, _sign, rest = effective.base_url.partition("://")
    other = "http" if scheme.lower() == "https" else "https"
    return _edited(effective, profile, standing, f"base_url={other}://{rest}") if rest else None


def by_number(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """This machine by its number, which no resolver takes for another."""
    url = re.sub(r"//localhost(?=[:/]|$)", "//127.0.0.1", effective.base_url, count=1)
    return _edited(effective, profile, standing, f"base_url={url}")


def model(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """The name that is nearest to the one that nobody serves; without one, what there is to choose from."""
    near = str(finding.values.get("near", ""))
    if not near:  # shows what there is, and mends nothing
        return Fix(spelled(("models", "--profile", profile.name)))
    return _edited(effective, profile, standing, f"{_named_at(effective, profile)}={near}")


def _named_at(effective: Effective, profile: Profile) -> str:
    """The setting of the profile that gives the tool its model: its own, a slot, or the one that all have."""
    own = profile.tool.get(effective.tool, {})
    before = f"tool.{effective.tool}."
    if own.get("model") == effective.model:
        return f"{before}model"
    for prefix, slots in ((before, own.get("models", {})), ("", profile.models)):
        slot = next((slot for slot, name in slots.items() if name == effective.model != profile.model), None)
        if slot is not None:
            return f"{prefix}models.{slot}"
    return "model" if profile.model == effective.model else f"{before}model"


def timeout(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix | None:
    """As long as slow models are commonly given; nothing, where the profile says as much and the tool has it."""
    stated = for_tool(profile, effective.tool).request.get("timeout_seconds")
    if not isinstance(stated, int | float) or not _PATIENCE_SECONDS <= stated <= _MOST_SECONDS:
        return _edited(effective, profile, standing, f"request.timeout_seconds={_PATIENCE_SECONDS}")
    return None if stated == effective.timeout_seconds else commands(applied(effective.tool))


def header(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """The key in the header that the gateway reads: by `apply`, else beside the tool's own, where it takes more.

    Only one that carries the bare key can be set so, `authorization` wants a word before it; and the tool's own file
    then holds a copy.
    """
    rehearsal, read = standing.rehearsal(), str(finding.values.get("read_header", ""))
    if not rehearsal.is_vain and (not read or read in standing.sends):
        return commands(applied(effective.tool))
    takes = standing.takes & {"headers", "headers_lines"} and profile.plaintext != "never"
    if read in ("", "authorization") or not takes:
        return Fix(say("no_other_header", called=effective.called))
    setting = f"tool.{effective.tool}.request.headers.{read}={profile.key}"
    consent = () if profile.plaintext == "allow" or "--allow-plaintext" in rehearsal.options else ("--allow-plaintext",)
    edit = ("profile", "edit", profile.name, "--set", setting)
    return replace(
        commands(edit, (*applied(effective.tool), *consent)),
        why=(say("header_in_file", called=effective.called, header=read),) if consent else (),
    )


def ignored(effective: Effective, finding: Finding, _profile: Profile, standing: Standing) -> Fix:
    """The key taken to where git takes nothing from, or the file ignored, whoever wrote it."""
    is_ours = finding.where is None or standing.writes
    return commands(applied(effective.tool) if is_ours else ("check", "--fix"))


def unproxied(effective: Effective, finding: Finding, _profile: Profile, standing: Standing) -> Fix | None:
    """The proxy started, or taken out, where its place is known."""
    found = standing.taken_out()
    if found is None:
        return None
    others = _alike(effective, finding, standing)
    if not isinstance(found.text, Sentence):
        way: Text = say("run_there", command=" ".join((found.text, *others)))
    else:
        way = say("goes_with_it", way=found.text, names=", ".join(others)) if others else found.text
    return Fix(say("start_proxy", proxy=finding.values.get("proxy", ""), way=way))


def _alike(effective: Effective, finding: Finding, standing: Standing) -> tuple[str, ...]:
    """The other variables that name the same proxy, and would count without the first."""
    where, rules, environ = finding.where, effective.network.rules, standing.environ
    if where is None:
        return ()
    first = where.slot.removeprefix("$").rpartition(".")[2]  # a table of variables in the settings, too
    names = rules.http if effective.url.strip()[:5].lower() == "http:" else rules.https
    return tuple(name for name in names if name != first and environ.get(name) and environ[name] == environ.get(first))


def unstreamed(effective: Effective, _finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """Whole answers, from a gateway that has no others."""
    if "stream" not in standing.takes:
        return Fix(say("no_stream_setting", called=effective.called))
    return _edited(effective, profile, standing, f"tool.{effective.tool}.request.stream=false")


def raised_limit(finding: Finding) -> Fix:
    """The place of a limit that only a person can raise, for a tool that has none from a profile."""
    place = finding.values.get("place")
    return Fix(say("raise_limit", place=place, seconds=str(_PATIENCE_SECONDS)) if place else say("no_limit"))


def exempt(effective: Effective, finding: Finding, profile: Profile, standing: Standing) -> Fix:
    """The gateway's host reached straight: by the tool's own settings, or by the variable that it reads."""
    host = urlsplit(effective.base_url).hostname or ""
    rules = effective.network.rules
    stated = [one for one in rules.straight if one in standing.environ]  # even if empty, it may hide the other
    name = rules.sparing(standing.environ) or next(iter(stated), "NO_PROXY")
    before = standing.environ.get(name, "").replace(",", " ").split()  # white space parts them to some: to all a comma
    hosts = ",".join(dict.fromkeys((*before, *map(rules.spelled, (host, "localhost", "127.0.0.1", "::1")))))
    if "no_proxy" in standing.takes:
        return _edited(effective, profile, standing, f"network.no_proxy={hosts}")
    if finding.where is not None and finding.where.file:
        place = finding.values.get("place", finding.where.slot)
        return Fix(say("exempt_beside", variable=name, hosts=hosts, place=place, called=effective.called))
    return Fix(say("exempt", line=f"export {name}={shlex.quote(hosts)}", called=effective.called))


def _edited(effective: Effective, profile: Profile, standing: Standing, setting: str) -> Fix:
    """The profile edited, and then every tool set that has it from there."""
    others = () if setting.startswith("tool.") else standing.tools
    return commands(("profile", "edit", profile.name, "--set", setting), applied(effective.tool, *others))
