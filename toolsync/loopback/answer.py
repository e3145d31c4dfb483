"""What the gateway on loopback answers: which route, whether the key and the model are right, and in whose words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from toolsync.loopback import speech
from toolsync.loopback.received import Received
from toolsync.loopback.speech import Answer
from toolsync.masking import Secret
from toolsync.value import frozen

__all__ = ["Answer", "House", "answer"]


@frozen
class House:
    """How this gateway was set up: its path prefix, its models (empty: any), and what they all say."""

    prefix: str
    models: tuple[str, ...]
    says: str


def answer(house: House, key: Secret | None, request: Received) -> Answer:
    """The answer to one request; anything but the known routes is a 404 as one-api words it."""
    route = request.path.removeprefix(house.prefix) if request.path.startswith(f"{house.prefix}/") else ""
    is_anthropic = route.startswith("/v1/messages") or "anthropic-version" in request.headers
    if (request.method, route) not in _ROUTES:
        return speech.no_route(request.method, request.path)
    if not _is_let_in(key, request):
        return speech.unauthorized(is_anthropic=is_anthropic)
    return _ROUTES[request.method, route](house, request)


def _is_let_in(key: Secret | None, request: Received) -> bool:
    """Every credential that came must be right: a foreign one beside ours is a fault that tests want to see."""
    given = set(request.credentials.values())
    return key is None or given == {key}


def _asked(speak: Callable[..., Answer], *, is_anthropic: bool) -> Callable[[House, Received], Answer]:
    """A route that asks a model: `speak` words what it says."""

    def route(house: House, request: Received) -> Answer:
        body: Mapping[str, Any] | None = request.json
        if body is None or request.model is None:
            return speech.bad_request("the body is no JSON object with a model", is_anthropic=is_anthropic)
        if house.models and request.model not in house.models:
            return speech.no_model(request.model, is_anthropic=is_anthropic)
        return speak(request.model, house.says, body)

    return route


def _models(house: House, request: Received) -> Answer:
    return speech.models(house.models, is_anthropic="anthropic-version" in request.headers)


_ROUTES: Mapping[tuple[str, str], Callable[[House, Received], Answer]] = {
    ("GET", "/v1/models"): _models,
    ("POST", "/v1/chat/completions"): _asked(speech.chat_completion, is_anthropic=False),
    ("POST", "/v1/responses"): _asked(speech.response, is_anthropic=False),
    ("POST", "/v1/messages"): _asked(speech.message, is_anthropic=True),
    ("POST", "/v1/messages/count_tokens"): _asked(speech.token_count, is_anthropic=True),
}
