"""Findings as SARIF 2.1.0, which code hosts and editors show beside the lines; no value stands in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(data: Mapping[str, Any], root: Path, version: str, rules: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """One run with a result for each finding that nobody agreed to.

    Args:
        data: what `check` found, as its schema describes it.
        root: the repository, or folder, that paths are relative to where they lie in it.
        version: of toolsync.
        rules: the shapes of keys, by name and title.
    """
    ids = ["known-key", *(f"shape-{name}" for name, _ in rules)]
    titles = ["A key of yours in clear", *(f"{title[0].upper()}{title[1:]} in clear" for _, title in rules)]
    driver = {
        "name": "toolsync",
        "semanticVersion": version,
        "rules": [
            {"id": name, "shortDescription": {"text": title}, "defaultConfiguration": {"level": "error"}}
            for name, title in zip(ids, titles, strict=True)
        ],
    }
    results = [_result(one, root, ids) for one in data["findings"] if not one["agreed"]]
    missed = [
        {
            "level": "warning" if one["matters"] else "note",
            "message": {"text": f"not looked at: {one['what']}: {one['reason']}"},
        }
        for one in data["not_looked_at"]
    ]
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {"ROOT": {"uri": _uri(root) + "/"}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not any(one["matters"] for one in data["not_looked_at"]),
                "toolExecutionNotifications": missed,
            }
        ],
        "results": results,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(one: Mapping[str, Any], root: Path, ids: Sequence[str]) -> dict[str, Any]:
    secret = one["secret"]
    rule = "known-key" if secret["is_known"] else f"shape-{secret['shape']}"
    inside = f" ({one['inside']})" if one["inside"] else ""
    text = f"{secret['name']} stands in clear in {one['shown']}{inside}. {one['advice']}".strip()
    location: dict[str, Any] = {"artifactLocation": _artifact(one["file"], root)}
    if one["line"]:
        location["region"] = {"startLine": one["line"]}
    return {
        "ruleId": rule,
        "ruleIndex": ids.index(rule),
        "level": "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
        "properties": {
            "kind": one["kind"],
            "tool": one["tool"],
            "exposed": one["exposed"],
            "count": one["count"],
            # of this machine only, so that it is no `partialFingerprints`
            **({"fingerprint": secret["fingerprint"]} if secret["fingerprint"] else {}),
        },
    }


def _artifact(file: str, root: Path) -> dict[str, str]:
    path = PurePath(file)
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": "ROOT"}
    return {"uri": _uri(path)}


def _uri(path: PurePath) -> str:
    posix = path.as_posix()
    return f"file://{quote(posix if posix.startswith('/') else f'/{posix}', safe='/:')}"
