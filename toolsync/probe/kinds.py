"""Causes by what they lie in: the way, the path, the key."""

from __future__ import annotations

OF_THE_WAY = frozenset({"url_redirect", "captive_portal", "waf_block", "origin_unreachable", "origin_timeout"})
OF_THE_PATH = frozenset(
    {
        *("path_missing_v1", "path_duplicate_v1", "path_full_endpoint", "path_missing_prefix", "path_extra_segment"),
        *("wire_api_unsupported", "models_list_unsupported"),
    }
)
OF_THE_KEY = frozenset(
    {
        *("key_invalid", "key_wrong_header", "key_not_sent", "key_missing", "key_expired", "key_disabled"),
        *("key_or_endpoint", "key_wrong_provider", "auth_conflict_both_set", "base_url_not_honoured"),
    }
)
