"""An answer as the rows look at it: as a whole, or as one of the errors in it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from urllib.parse import urljoin, urlsplit

from toolsync.address import PATHS, Dialect
from toolsync.probe.body import Kind, Level, events, kind, levels, page, title
from toolsync.probe.dialect import has_form, ids, is_last, reply, speaks
from toolsync.probe.response import Response
from toolsync.probe.row import stage
from toolsync.value import frozen


@frozen
class Asked:
    """What the answer is an answer to.

    Attributes:
        url: the whole address that was asked.
        dialect: what was spoken.
        model: the model that was asked for an answer; empty where the list of models was asked for.
        is_keyed: whether the request carried a credential.
        streams: whether a stream was asked for.
    """

    url: str = ""
    dialect: Dialect = "openai-chat"
    model: str = ""
    is_keyed: bool = True
    streams: bool = False


@frozen
class Sight:
    """An answer as one of the errors in it shows it.

    Attributes:
        level: that error; None where the answer is looked at as a whole.
        within: the families of the errors around it.
    """

    answer: Response
    asked: Asked
    level: Level | None = None
    within: frozenset[str] = frozenset()

    def inward(self) -> tuple[Sight, ...]:
        """The same for each error in it, the innermost first; none for a web page, whose title is no message."""
        if self.kind == "page":
            return ()
        found: list[Sight] = []
        for level in levels(self.answer):
            around = frozenset(sight.family for sight in found)
            found.append(replace(self, level=level, within=around))
        return tuple(reversed(found))

    @cached_property
    def kind(self) -> Kind:
        """What sort of body it is."""
        return kind(self.answer)

    @property
    def status(self) -> int:
        """The status of this error, where it speaks of one; else the answer's: a refusal that says 200 is one still."""
        told = self.level.status if self.level is not None else None
        is_success = told is not None and 200 <= told < 300  # noqa: PLR2004  HTTP's own classes
        return told if told is not None and not is_success else self.answer.status

    @cached_property
    def family(self) -> str:
        """Whose words these are."""
        fitting = (row.means for row in stage("families") if row.fits(self))
        return next(fitting, "")

    @cached_property
    def words(self) -> str:
        """What patterns are matched against: the message, on one line, in simplified Chinese where it is Chinese."""
        text = self.level.message if self.level else title(self.answer) if self.kind == "page" else ""
        return " ".join(text.split()).translate(_SIMPLIFIED)

    @cached_property
    def page(self) -> str:
        """The beginning of a web page's source; "" of anything else."""
        return page(self.answer) if self.kind == "page" else ""

    @property
    def path(self) -> str:
        """The path that was asked."""
        return urlsplit(self.asked.url).path

    @property
    def is_elsewhere(self) -> bool:
        """Whether a redirect leads to another host."""
        try:
            target = urlsplit(urljoin(self.asked.url, self.answer.headers.get("location", "")))
        except ValueError:  # half a bracket leads nowhere, and so not here
            return True
        return target.hostname != urlsplit(self.asked.url).hostname

    @cached_property
    def found(self) -> str:
        """What was found in an answer of success.

        `answer`; `silence`, one without a word; `other`, another dialect's; or `nothing`.
        """
        if not 200 <= self.answer.status < 300:  # noqa: PLR2004  HTTP's own classes
            return "nothing"
        if self.kind == "stream" and self.asked.streams:
            return "nothing" if levels(self.answer) else _heard(self.answer, self.asked.dialect)
        if not self.asked.model:
            return "nothing" if ids(self.answer.json) is None else "answer"
        said = reply(self.answer.json, self.asked.dialect)
        if said is not None:
            return "silence" if said.is_silent else "answer"
        return "other" if any(reply(self.answer.json, dialect) for dialect in PATHS) else "nothing"


def _heard(answer: Response, dialect: Dialect) -> str:
    """What a stream without an error holds; one that does not end of itself is not silent, but cut off."""
    came = tuple(events(answer))
    own = [event for event in came if has_form(event, dialect)]
    if not own and any(has_form(event, other) for event in came for other in PATHS):
        return "other"
    is_silent = not any(speaks(event, dialect) for event in own)
    is_ended = not came or "[DONE]" in answer.text or any(is_last(event, dialect) for event in own)
    return "silence" if is_silent and is_ended else "answer"


_SIMPLIFIED = str.maketrans(
    "額餘無權過請續費凍結鎖連線證鑰頻繁載負飽態狀號帳戶區國時間訪問頁點數應開關對報錯誤該輸達駁拒絕總個關閉購買賬務維護為觸發檢測尋內",
    "额余无权过请续费冻结锁连线证钥频繁载负饱态状号帐户区国时间访问页点数应开关对报错误该输达驳拒绝总个关闭购买账务维护为触发检测寻内",
)
"""What the patterns spell in simplified Chinese, and gateways in Taiwan and Hong Kong do not."""
