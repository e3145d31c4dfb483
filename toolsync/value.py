"""What values are: dataclasses that nobody changes.

`dataclass(frozen=True)` writes six methods of each class as text and compiles them, at every start of the program: of a
hundred classes, that takes as long as six starts of the interpreter. Here only the constructor is written, and only
when a class makes its first value (most commands use half of the classes); the rest is shared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from threading import RLock
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_FIELDS = "__dataclass_fields__"
_making = RLock()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass whose instances are equal, hashed and shown by their fields; that nobody sets one, mypy sees to.

    `replace`, `fields` and `field` do with it what they do with any dataclass.
    """
    own = {"__init__": _first_init(cls), _FIELDS: _Unmade(cls)}
    own |= {name: method for name, method in _SHARED.items() if name not in cls.__dict__}
    for name, attribute in own.items():
        setattr(cls, name, attribute)
    return cls


class _Unmade:
    """Stands for the fields of a class that is no dataclass yet, and makes it one when somebody asks for them.

    The first value does, a subclass, `fields`, `is_dataclass`.
    """

    def __init__(self, cls: type) -> None:
        self._cls = cls

    def __get__(self, instance: object, owner: type) -> Any:
        _make(self._cls)
        return getattr(owner, _FIELDS)


def _first_init(cls: Any) -> Any:
    """The constructor for a class's first value, which makes the true one."""

    def init(self: Any, *positional: Any, **named: Any) -> None:
        _make(cls)
        cls.__init__(self, *positional, **named)  # another one by now

    return init


def _make(cls: Any) -> None:
    """Make it one, once; another thread may make a value meanwhile, so that the class has a constructor always."""
    with _making:
        if not isinstance(cls.__dict__[_FIELDS], _Unmade):
            return
        compared = dataclass(init=False, eq=False, repr=False)(cls)
        cls._compared = attrgetter("__class__", *(one.name for one in fields(compared) if one.compare))
        names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        below: Any = dataclass(eq=False, repr=False)(type(cls.__name__, (cls,), names))
        cls.__init__ = below.__init__


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
