"""What values are: dataclasses that nobody changes.

`dataclass(frozen=True)` writes six methods of each class as text and compiles them, at every start of the program: of a
hundred classes, that takes as long as six starts of the interpreter. Only the constructor needs it, and of most classes
a run makes no instance: so it is made with the first one. The rest is shared.
"""

from __future__ import annotations

from _thread import RLock
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass whose instances are equal, hashed and shown by their fields; that nobody sets one, mypy sees to.

    `replace`, `fields` and `field` do with it what they do with any dataclass. What `field` says of a default is read
    on instances only.
    """
    own: dict[str, Any] = {name: method for name, method in _SHARED.items() if name not in cls.__dict__}
    for name, attribute in (own | {_FIELDS: _Fields(cls), "__init__": _first(cls)}).items():
        setattr(cls, name, attribute)
    return cls


def _first(cls: Any) -> Any:
    """The constructor until there is an instance."""

    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807  it stands for the class's own
        _complete(cls)
        cls.__init__(self, *args, **named)

    return __init__


class _Fields:
    """What `fields` and the classes below ask for, until it is known."""

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        _complete(self._cls)
        return self._cls.__dict__[_FIELDS]


def _complete(cls: Any) -> None:
    """Make the class the dataclass that it is, as `dataclass` makes its like; what says that it is made comes last."""
    with _LOCK:
        if not isinstance(cls.__dict__[_FIELDS], _Fields):
            return  # another thread was quicker
        own = {name: held for name, held in cls.__dict__.items() if name not in _NOT_WRITTEN}
        like: Any = type(cls)(cls.__name__, cls.__bases__, own)
        like.__qualname__ = cls.__qualname__  # it stands in errors of the constructor
        like = dataclass(eq=False, repr=False)(like)
        cls._compared = attrgetter("__class__", *(one.name for one in fields(like) if one.compare))
        for name in ("__match_args__", "__dataclass_params__", "__init__", _FIELDS):
            setattr(cls, name, getattr(like, name))
        for one in fields(like):  # from here on nobody begins anew, were this cut off by Ctrl-C
            if one.name in like.__dict__:
                setattr(cls, one.name, like.__dict__[one.name])
            elif one.name in cls.__dict__:
                delattr(cls, one.name)  # a default that is made anew for each instance


def _is_equal(one: Any, other: Any) -> Any:
    if other.__class__ is not one.__class__:
        return NotImplemented
    return one._compared(one) == one._compared(other)  # noqa: SLF001  set above


def _hash(one: Any) -> int:
    return hash(one._compared(one))  # noqa: SLF001  likewise


def _shown(one: Any) -> str:
    told = ", ".join(f"{each.name}={getattr(one, each.name)!r}" for each in fields(one) if each.repr)
    return f"{type(one).__qualname__}({told})"


_SHARED = {"__eq__": _is_equal, "__hash__": _hash, "__repr__": _shown}
_FIELDS = "__dataclass_fields__"
_NOT_WRITTEN = frozenset({"__init__", "__dict__", "__weakref__", _FIELDS})
"""What of a class its like must not have from it: what `dataclass` would leave as it is, and what a new class gets."""
_LOCK = RLock()
