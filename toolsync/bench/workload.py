"""What is asked: prompts of the same length by the server's own count, none like another, and how the output is held.

Prompts are random words. They differ from the first word on, for an engine keeps what prompts begin with in common,
and would answer the second one out of its cache.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from toolsync.address import Dialect
from toolsync.value import frozen


@frozen
class Workload:
    """What the requests of one run have in common.

    Attributes:
        dialect: of the requests.
        model: whom to ask.
        output_tokens: how long replies should be.
        words: how many a prompt has.
        seed: of the prompts; another one in each run.
        held: the parameters that hold the output and ask for the usage, as the server takes them.
    """

    dialect: Dialect
    model: str
    output_tokens: int
    words: int
    seed: int
    held: Mapping[str, Any]

    def body(self, number: int) -> bytes:
        """The request of that number; each number has a prompt of its own."""
        text = prompt(self.words, self.seed, number)
        asked: dict[str, Any] = {"model": self.model, "stream": True}
        if self.dialect == "openai-responses":
            asked |= {"input": text, "store": False}
        else:
            asked["messages"] = [{"role": "user", "content": text}]
        return json.dumps(asked | dict(self.held), separators=(",", ":")).encode()


def held(dialect: Dialect, output_tokens: int) -> dict[str, Any]:
    """The parameters to begin with: all that make replies equally long, and the server say how long they are."""
    limit = "max_output_tokens" if dialect == "openai-responses" else "max_tokens"
    usage = {"stream_options": {"include_usage": True}} if dialect == "openai-chat" else {}
    return {limit: output_tokens, "min_tokens": output_tokens, "ignore_eos": True, **usage}


OTHER_NAME = {"max_tokens": "max_completion_tokens"}
"""What newer models of OpenAI call it."""
_LAST_RESORT = ("ignore_eos", "min_tokens", "stream_options", "max_tokens")
"""What is left out first where a server does not say what it dislikes: what fewest know."""


def without_refused(parameters: Mapping[str, Any], words: str) -> tuple[dict[str, Any], str, bool] | None:
    """What to ask with after a refusal (400, 422).

    Args:
        parameters: that were refused together.
        words: the body of the refusal.

    Returns:
        The parameters left, the one that was taken out, and whether the server named it; None: there is none to take.
    """
    for name in parameters:
        if re.search(rf"(?<![\w]){name}(?![\w])", words) and (name in _LAST_RESORT):
            return _without(parameters, name), name, True
    for name in _LAST_RESORT:
        if name in parameters:
            return _without(parameters, name), name, False
    return None


def _without(parameters: Mapping[str, Any], name: str) -> dict[str, Any]:
    left = {key: value for key, value in parameters.items() if key != name}
    return left | ({OTHER_NAME[name]: parameters[name]} if name in OTHER_NAME else {})


TOLERANCE = 0.02
"""How far a prompt may be from the length asked for."""


def first_guess(prompt_tokens: int) -> int:
    """How many words to begin with: nearly each is a token, and a template adds some."""
    return max(1, prompt_tokens - _TASK_TOKENS)


def better_guess(prompt_tokens: int, seen: Mapping[int, int]) -> int:
    """How many words make a prompt of that length.

    Args:
        prompt_tokens: wanted, by the server's count.
        seen: tokens by words, of one prompt or two.
    """
    (words, tokens), *others = seen.items()
    slope = max(0.2, (tokens - _TASK_TOKENS) / words)  # a word may be a fifth of a token nowhere
    if others and others[-1][0] != words:
        other_words, other_tokens = others[-1]
        slope = max(0.2, (other_tokens - tokens) / (other_words - words))
        words, tokens = other_words, other_tokens
    return max(1, words + round((prompt_tokens - tokens) / slope))


def is_near(prompt_tokens: int, counted: int) -> bool:
    """Whether a prompt is as long as it should be."""
    return abs(counted - prompt_tokens) <= max(1, TOLERANCE * prompt_tokens)


def prompt(words: int, seed: int, number: int) -> str:
    """A prompt of so many words, like no other of this run from its first word on, as long as there are words."""
    first = _shuffled(seed)
    drawn = Random(f"{seed}/{number}").choices(_WORDS, k=words)  # noqa: S311
    drawn[0] = first[number % len(first)]
    return f"{' '.join(drawn)}\n\n{_TASK}"


@cache
def _shuffled(seed: int) -> list[str]:
    return Random(seed).sample(_WORDS, len(_WORDS))  # noqa: S311  no secret


_TASK = "Go on with this list of words, one after another, and do not stop."
_TASK_TOKENS = 24
"""What the task and a chat's template come to, about."""

_WORDS = """
able about above across act add after again age ago air all alone along also among angle animal answer any apple area
arm art ask away baby back bad ball bank base bath bear beat bed bell best big bird black blood blow blue board boat
body bone book born both box boy bread break bridge bright bring brother brown build burn bus buy call camp car card
care carry case cat catch center chair chance change check child choose circle city class clean clear climb clock cloud
coat cold color come cook cool copy corn corner cost count country course cover cow cross crowd cry cup cut dance dark
day dead deal deep design desk dinner doctor dog door down draw dream dress drink drive drop dry dust ear early earth
east easy eat edge egg eight end engine enough evening event every eye face fact fall family far farm fast father feel
field fight fill film find fine finger fire first fish five floor flower fly follow food foot forest form four free
fresh friend front fruit full fun game garden gas girl give glass goal gold good grass great green ground group grow
guess guide hair half hand hard hat head hear heart heat heavy help here high hill history hold hole home hope horse
hot hour house huge human ice idea iron island job join jump keep key kind king kitchen knee know lady lake land large
last late laugh law lead learn leave left leg length letter level lie life lift light line lion lip list little live
long look lost loud love low lunch machine main man map mark market matter meal mean meat meet metal middle milk mind
mine minute miss money month moon morning mother mountain mouth move much music name near neck need new next nice night
nine noise north nose note number ocean off office oil old one open orange order other out over page paint paper park
part party pass past path pay people person phone picture piece place plain plan plane plant play point pool poor post
power price print pull push quick quiet race radio rain raise reach read ready real red rest rice rich ride right ring
rise river road rock roll roof room root rope rose round rule run safe salt same sand save school science score sea
season seat second see seed sell send seven shape share sharp ship shirt shoe shop short shot show side sign silver
simple sing sister sit six size skin sky sleep slow small smile snow soft soil song sound south space speak speed spend
spring square staff stage stand star start state stay steel step stone stop store storm story street strong study sugar
summer sun table tail talk tall teach team ten test thick thin thing think three tie time tiny today top touch town
track trade train travel tree trip truck true turn twelve two type uncle under unit up use valley value view village
visit voice wait walk wall want war warm wash watch water wave way weather week weight west wet wheel white wide wife
wild wind window wing winter wish woman wood word work world write yard year yellow yes yet young zero
""".split()  # noqa: SIM905  a line per word would be four pages
