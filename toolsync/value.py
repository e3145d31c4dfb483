"""What values are: dataclasses that nobody changes.

`dataclass(frozen=True)` writes six methods of each class as text and compiles them, at every start of the program: of a
hundred classes, that takes as long as six starts of the interpreter. Here only the constructor is written, and only
when a class makes its first value (most commands use half of the classes); the rest is shared.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import Field, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_FIELDS = "__dataclass_fields__"


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
        self._made: list[Any] = []
        self.told = {name: told for name, told in cls.__dict__.items() if isinstance(told, Field)}

    def __get__(self, instance: object, owner: type) -> Any:
        _make(self._cls)
        return getattr(owner, _FIELDS)

    def made(self) -> Any:
        """A class of the same name and text, which is a dataclass; the same one for whoever asks."""
        if not self._made:
            self._made.append(self._copy_made())
        return self._made[0]  # of two threads' copies, the first

    def _copy_made(self) -> Any:
        cls = self._cls
        left_out = {"__dict__", "__weakref__", "__init__", _FIELDS, *self.told}
        own = {name: attribute for name, attribute in cls.__dict__.copy().items() if name not in left_out}
        copy = type(cls)(cls.__name__, cls.__bases__, {**own, "__qualname__": cls.__qualname__})
        for name, told in self.told.items():  # in the new class's text it would be called, and Ctrl-C there be an error
            setattr(copy, name, told)
        return dataclass(eq=False, repr=False)(copy)


def _first_init(cls: Any) -> Any:
    """The constructor for a class's first value, which makes the true one."""

    def init(self: Any, *positional: Any, **named: Any) -> None:
        _make(cls)
        cls.__init__(self, *positional, **named)  # another one by now

    return init


def _make(cls: Any) -> None:
    """Make it one, once. The class has a constructor always: another thread may make a value meanwhile.

    Ctrl-C may come at any moment of it, and while a lock is held, too: so there is none. What is made is made of a
    copy, and every later step is the same however often it is taken, and by whom.
    """
    unmade = cls.__dict__[_FIELDS]
    if not isinstance(unmade, _Unmade):
        return
    made = unmade.made()
    for name in (*(one.name for one in fields(made)), "__dataclass_params__", "__match_args__", "__replace__"):
        if name in made.__dict__:
            setattr(cls, name, made.__dict__[name])
        elif name in unmade.told:
            _forget(cls, name)
    cls._compared = attrgetter("__class__", *(one.name for one in fields(made) if one.compare))
    cls.__init__ = made.__init__
    setattr(cls, _FIELDS, made.__dict__[_FIELDS])


def _forget(cls: type, name: str) -> None:
    """Take what `field` told of it out of the class, if nobody has."""
    with suppress(AttributeError):
        delattr(cls, name)


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
