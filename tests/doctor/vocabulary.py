"""Cases come from several hands: what they call the same thing by other names, in the words that the listeners know."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

Data = Mapping[str, Any]
Names = Mapping[str, tuple[str, ...]]

_LISTENER: Names = {
    "routes": ("endpoints", "handlers", "paths"),
    "default": ("fallback", "otherwise", "not_found", "else"),
    "respond": ("response", "reply", "answer"),
    "mode": ("behaviour", "behavior", "does"),
    "tls": ("certificate", "ssl"),
}
_ROUTE: Names = {"respond": ("response", "reply", "answer"), "if": ("when", "match", "only_if")}
_AUTH: Names = {
    "keys": ("key", "valid_keys", "valid", "tokens", "good_keys"),
    "accept": ("headers", "header", "accepts", "schemes", "reads"),
    "on_fail": ("reject", "refusal", "on_failure", "otherwise", "respond", "response"),
    "before_routing": ("first", "checked_first"),
}
_ANSWER: Names = {
    "status": ("status_code", "code"),
    "headers": ("header",),
    "text": ("body", "html", "raw", "content", "body_text"),
    "json": ("body_json", "data"),
    "base64": ("body_base64", "body_b64", "bytes_base64"),
    "sse": ("events", "stream", "chunks"),
    "delay_s": ("delay", "wait_s", "sleep_s", "latency_s", "headers_delay_s", "ttfb_s", "first_byte_delay_s", "hang_s"),
    "event_gap_s": ("gap_s", "interval_s", "event_delay_s", "event_interval_s", "chunk_gap_s", "gap"),
    "stall_s": ("stall", "stall_for_s", "pause_s", "silence_s"),
    "stall_after": ("stall_after_events", "hang_after_events", "silent_after_events"),
    "end_after": ("close_after_events", "truncate_after_events", "cut_after_events", "drop_after_events"),
    "buffered": ("buffer", "all_at_once", "buffer_all"),
    "hang_up": ("close", "drop", "disconnect", "close_without_response", "reset", "abort"),
    "cut_after_bytes": ("truncate_after_bytes", "truncate_at", "close_after_bytes", "cut_after"),
    "gzipped": ("gzip", "gzip_times", "compressed"),
}
_CONDITION: Names = {
    "header_present": ("has_header", "with_header"),
    "header_absent": ("lacks_header", "without_header", "no_header"),
    "header_contains": ("header_matches", "header", "headers", "header_equals"),
    "user_agent_contains": ("user_agent", "ua_contains"),
    "json_has": ("body_has", "has_field", "has_param", "param"),
    "json_lacks": ("body_lacks", "lacks_field", "without_param"),
    "model_in": ("model", "models", "model_is"),
    "model_not_in": ("model_not", "other_model_than", "model_is_not"),
    "body_contains": ("body_includes", "contains", "body_matches", "body_contains_any"),
    "body_larger_than": ("body_over", "body_bytes_over", "min_body_bytes", "body_larger_than_bytes", "size_over"),
    "key_kind": ("auth_style", "auth_kind", "key_in"),
    "has_key": ("keyed", "authenticated", "with_key"),
    "first_times": ("times", "first_n", "max_times"),
}
_ENVIRONMENT: Names = {"env": ("vars", "variables", "environ"), "resolve": ("hosts", "dns"), "process": ("processes",)}
_FILE: Names = {"text": ("content", "contents", "body"), "path": ("file", "name")}
_PROCESS: Names = {
    "started_s_before_file": ("started_before_file_s", "started_s_before", "age_s", "older_by_s"),
    "env": ("environ", "environment", "vars"),
}
_CONFIG: Names = {
    "base_url": ("url", "address", "endpoint"),
    "api_kind": ("api", "dialect", "protocol", "wire_api"),
    "stream": ("streaming", "streams"),
    "second_key": ("other_key", "key2"),
    "wanted_base_url": ("profile_base_url", "expected_base_url", "wanted_url"),
    "env_name": ("key_env", "env_key", "variable"),
    "tool_appends": ("appends", "path", "append_path"),
    "max_tokens_name": ("limit_name", "max_tokens_param"),
}

_KINDS = {
    **dict.fromkeys(("tls", "ssl"), "https"),
    **dict.fromkeys(("refused", "tcp_closed", "closed_port", "none", "nothing"), "closed"),
    **dict.fromkeys(("hang", "mute", "tcp_silent", "accept_and_hang"), "silent"),
    **dict.fromkeys(("drop", "filtered", "timeout", "unroutable"), "blackhole"),
    **dict.fromkeys(("http_proxy", "forward_proxy", "connect_proxy"), "proxy"),
}
_MODES = {
    **dict.fromkeys(("auth", "407", "needs_auth", "require_auth", "proxy_auth_required"), "auth_required"),
    **dict.fromkeys(("pass", "pass_through", "transparent", "tunnel", "connect", "ok"), "forward"),
}
_CERTIFICATES = {
    **dict.fromkeys(("wrong_host", "hostname_mismatch", "wrong_name", "mismatch", "other_host"), "other_name"),
    **dict.fromkeys(("future", "not_valid_yet"), "not_yet_valid"),
    **dict.fromkeys(("valid", "good", "ok"), "trusted"),
    **dict.fromkeys(("untrusted_root", "unknown_ca", "corporate_root", "inspection"), "chain_with_untrusted_root"),
}
_DIALECTS = {
    **dict.fromkeys(("openai", "chat", "openai-compatible", "chat-completions", "openai_chat"), "openai-chat"),
    **dict.fromkeys(("responses", "openai_responses"), "openai-responses"),
    **dict.fromkeys(("anthropic", "messages", "anthropic_messages"), "anthropic-messages"),
}
_FORMS = {
    **dict.fromkeys(("helper", "apiKeyHelper", "script", "exec"), "command"),
    **dict.fromkeys(("variable", "environment", "env_ref"), "env"),
    **dict.fromkeys(("keychain", "os_keyring"), "keyring"),
    **dict.fromkeys(("absent", "unset"), "missing"),
}


def understood(case: Data) -> dict[str, Any]:
    """The case in the words that listeners and set-ups know; what is in them already stays as it is."""
    listeners = case["server_behaviour"]
    listeners = listeners.get("listeners", listeners)
    return {
        **case,
        "server_behaviour": {"listeners": {name: listener(said) for name, said in listeners.items()}},
        "config": _configured(case["config"]),
        "environment": _surrounded(case.get("environment") or {}),
        "expected_cause": "none" if case["expected_cause"] in ("ok", "healthy", "") else case["expected_cause"],
        "also_acceptable": case.get("also_acceptable") or [],
        "must_not_diagnose": case.get("must_not_diagnose") or [],
        "fixed": _renamed(case["fixed"], _CONFIG) if case.get("fixed") else None,
    }


def listener(said: Data) -> dict[str, Any]:
    """One listener."""
    known = _renamed(said, _LISTENER)
    known["type"] = _KINDS.get(known.get("type", "http"), known.get("type", "http"))
    if isinstance(known.get("tls"), str):
        known["tls"] = {"cert": known["tls"]}
    if "tls" in known:
        cert = known["tls"].get("cert", known["tls"].get("kind", "trusted"))
        known["tls"] = {**known["tls"], "cert": _CERTIFICATES.get(cert, cert)}
    if "mode" in known:
        known["mode"] = _MODES.get(str(known["mode"]), known["mode"])
    for name, change in {"default": answer, "respond": answer, "auth": _authorised}.items():
        if isinstance(known.get(name), Mapping):
            known[name] = change(known[name])
    if "routes" in known:
        known["routes"] = [_route(route) for route in known["routes"]]
    return known


def _route(said: Data) -> dict[str, Any]:
    known = {"method": "*", "path": "*", **_renamed(said, _ROUTE)}
    known["respond"] = answer(known["respond"])
    known["if"] = _conditions(known.get("if") or {})
    return known


def _conditions(said: Data) -> dict[str, Any]:
    known = _renamed(said, _CONDITION)
    for name in ("model_in", "model_not_in"):
        if isinstance(known.get(name), str):
            known[name] = [known[name]]
    return known


def _authorised(said: Data) -> dict[str, Any]:
    known = {"before_routing": True, "accept": ["bearer"], **_renamed(said, _AUTH)}
    for name in ("keys", "accept"):
        if isinstance(known.get(name), str):
            known[name] = [known[name]]
    names = {"authorization": "bearer", "authorization: bearer": "bearer"}
    known["accept"] = [names.get(one.lower(), one.lower()) for one in known["accept"]]
    known["on_fail"] = answer(known.get("on_fail") or {"status": 401, "json": {"error": {"message": "Unauthorized"}}})
    return known


def answer(said: Data) -> dict[str, Any]:
    """One answer."""
    known = _renamed(said, _ANSWER)
    if isinstance(known.get("sse"), bool):  # whether it streams, and not what
        known.pop("sse")
    if isinstance(known.get("text"), Mapping | list):
        known["json"] = known.pop("text")
    if isinstance(known.get("headers"), list):
        known["headers"] = dict(known["headers"])
    if "sse" in known:
        known["sse"] = [_event(one) for one in known["sse"]]
    return known


def _event(said: object) -> str:
    """An event as it goes over the wire."""
    if isinstance(said, str):
        return said
    if isinstance(said, Mapping) and "data" in said:
        data = said["data"] if isinstance(said["data"], str) else json.dumps(said["data"])
        return (f"event: {said['event']}\n" if "event" in said else "") + f"data: {data}"
    return f"data: {json.dumps(said)}"


def _configured(said: Data) -> dict[str, Any]:
    known = _renamed(said, _CONFIG)
    known["api_kind"] = _DIALECTS.get(known["api_kind"], known["api_kind"])
    key = known.get("key")
    key = {"form": "literal" if key else "missing", "value": key} if not isinstance(key, Mapping) else key
    form = key.get("form", "literal")
    known["key"] = {**key, "form": _FORMS.get(form, form)}
    known.setdefault("model", "demo-model")
    return known


def _surrounded(said: Data) -> dict[str, Any]:
    known = {"env": {}, "files": [], "process": None, "resolve": {}, **_renamed(said, _ENVIRONMENT)}
    if isinstance(known["process"], list):
        known["process"] = known["process"][0] if known["process"] else None
    if known["process"]:
        known["process"] = _renamed(known["process"], _PROCESS)
    known["files"] = [_file(one) for one in known["files"] or []]
    if isinstance(known.get("keyring"), Mapping):
        known["keyring"] = known["keyring"].get("state")
    known["resolve"] = {
        name: [where] if isinstance(where, str) else where for name, where in (known["resolve"] or {}).items()
    }
    return known


def _file(said: Data) -> dict[str, Any]:
    known = _renamed(said, _FILE)
    if "text" not in known and "json" in known:
        known["text"] = json.dumps(known["json"])
    if "text" not in known and "base64" in known:
        known["text"] = base64.b64decode(known["base64"]).decode()
    return known


def _renamed(said: Data, names: Names) -> dict[str, Any]:
    """The same with each name that is known by another; milliseconds as seconds."""
    known = {other: name for name, others in names.items() for other in others}
    found: dict[str, Any] = {}
    for name, value in said.items():
        is_ms = name.endswith("_ms") and isinstance(value, int | float)
        called = f"{name[:-3]}_s" if is_ms else name
        own = called if called in names else known.get(called, called)
        found.setdefault(own, value / 1000 if is_ms else value)
    return found
