"""Pickles as data: an interpreter for the few opcodes that torch files are made of.

``pickle.Unpickler`` calls what a file names; even with a guarded ``find_class`` it sets
attributes, hashes nested tuples until the C stack ends, and resizes its memo to any index.
Here the standard library only splits the stream (``pickletools.genops``, which runs nothing),
and the opcodes below build None, numbers, strings, lists, tuples, sets and dicts. The only
functions that can be called are those in the caller's table.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

MAX_OPCODES = 1_000_000
"""DA3-Giant has about 60 000; the bound keeps a hostile file from filling the memory."""


class PickleError(Exception):
    """The stream is damaged, too large, or uses what is not allowed here."""


class ForbiddenError(PickleError):
    """The stream names a function or class that is not in the table.

    Attributes:
        name: ``module.attribute``, as the stream has it, made printable.
    """

    def __init__(self, name: str) -> None:
        self.name = shown(name)
        super().__init__(f"it names {self.name}")


def shown(name: str) -> str:
    """A name out of an untrusted file, fit for a message: one line, printable, not long."""
    name = name if len(name) <= 100 else name[:97] + "..."
    return name if name.isprintable() else ascii(name)


def load(
    stream: BinaryIO, known: Mapping[str, object], persistent: Callable[[object], object]
) -> object:
    """The object that the pickle at the stream's position describes.

    Args:
        stream: left behind the pickle's end.
        known: what may be named, by ``module.attribute``. Callables may also be called.
        persistent: makes objects of persistent ids.

    Raises:
        ForbiddenError: if something else is named.
        PickleError: if the stream is not a pickle, ends early, has more than `MAX_OPCODES`,
            or an opcode that torch's files do not use.
    """
    machine = _Machine(known, persistent)
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
            if count >= MAX_OPCODES:
                raise PickleError("its pickle is far longer than weights need")  # noqa: TRY301
            machine.step(opcode.name, argument)
        (result,) = machine.stack
    except PickleError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, AttributeError) as error:
        raise PickleError(f"its pickle is damaged ({error})") from error
    return result


_VALUES = frozenset(
    {
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
    }
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_CONTAINERS: dict[str, Callable[[], object]] = {
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_SET": set,
}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_PUTS = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_GETS = frozenset({"GET", "BINGET", "LONG_BINGET"})
_IGNORED = frozenset({"PROTO", "FRAME", "STOP"})


class _Machine:
    """Stack, marks and memo of a pickle in progress."""

    def __init__(
        self, known: Mapping[str, object], persistent: Callable[[object], object]
    ) -> None:
        self.known = known
        self.persistent = persistent
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # stacks below the marks
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        stack = self.stack
        if name in _VALUES:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name in _CONTAINERS:
            stack.append(_CONTAINERS[name]())
        elif name in _PUTS:
            self.memo[int(argument)] = stack[-1]
        elif name in _GETS:
            stack.append(self.memo[int(argument)])
        elif name in _TUPLES:
            length = _TUPLES[name]
            if len(stack) < length:
                raise IndexError("a tuple of nothing")
            stack[-length:] = [tuple(stack[-length:])]
        elif name in ("GLOBAL", "INST"):
            self._name(argument.replace(" ", "."))
        elif name not in _IGNORED:
            action = getattr(self, f"op_{name.lower()}", None)
            if action is None:
                raise PickleError(f"its pickle uses {name}, which weights have no use for")
            action()

    def _items(self) -> list[Any]:
        """What was pushed since the last mark."""
        items, self.stack = self.stack, self.outer.pop()
        return items

    def op_mark(self) -> None:
        self.outer.append(self.stack)
        self.stack = []

    def op_memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def op_pop(self) -> None:
        self.stack.pop()

    def op_pop_mark(self) -> None:
        self._items()

    def op_tuple(self) -> None:
        items = self._items()
        self.stack.append(tuple(items))

    def op_list(self) -> None:
        items = self._items()
        self.stack.append(items)

    def op_append(self) -> None:
        item = self.stack.pop()
        _as(list, self.stack[-1]).append(item)

    def op_appends(self) -> None:
        items = self._items()
        _as(list, self.stack[-1]).extend(items)

    def op_dict(self) -> None:
        items = self._items()
        self.stack.append({})
        self._set(items)

    def op_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set([key, value])

    def op_setitems(self) -> None:
        self._set(self._items())

    def _set(self, items: list[Any]) -> None:
        table = _as(dict, self.stack[-1])
        for key, value in zip(items[::2], items[1::2], strict=True):
            table[_plain(key)] = value

    def op_additems(self) -> None:
        items = self._items()
        _as(set, self.stack[-1]).update(_plain(item) for item in items)

    def op_stack_global(self) -> None:
        attribute, module = self.stack.pop(), self.stack.pop()
        self._name(f"{_as(str, module)}.{_as(str, attribute)}")

    def _name(self, name: str) -> None:
        if name not in self.known:
            raise ForbiddenError(name)
        self.stack.append(self.known[name])

    def op_binpersid(self) -> None:
        self.stack.append(self.persistent(self.stack.pop()))

    def op_reduce(self) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if not callable(function):
            raise PickleError("its pickle calls something that is no function")
        self.stack.append(function(*_as(tuple, arguments)))

    def op_build(self) -> None:
        # torch hangs `_metadata` on its OrderedDicts; nothing here has attributes to set.
        self.stack.pop()
        _as(dict, self.stack[-1])


def _as(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise PickleError(
            f"its pickle has a {type(value).__name__} where a {kind.__name__} belongs"
        )
    return value


def _plain(key: Any) -> Any:
    """A key whose hash is cheap and harmless (that of nested tuples is neither)."""
    if key is not None and type(key) not in (str, int, float, bool, bytes):
        raise PickleError(f"its pickle has a {type(key).__name__} as a key")
    return key
