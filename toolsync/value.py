"""What values are: dataclasses that nobody changes.

`dataclass(frozen=True)` writes six methods of each class as text and compiles them, at every start of the program: of a
hundred classes, that takes as long as six starts of the interpreter. Only the constructor needs it; the rest is shared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass whose instances are equal, hashed and shown by their fields; that nobody sets one, mypy sees to.

    `replace`, `fields` and `field` do with it what they do with any dataclass.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    compared = attrgetter("__class__", *(one.name for one in fields(made) if one.compare))
    own = {"_compared": compared, **{name: method for name, method in _SHARED.items() if name not in cls.__dict__}}
    for name, attribute in own.items():
        setattr(made, name, attribute)
    return cls


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
