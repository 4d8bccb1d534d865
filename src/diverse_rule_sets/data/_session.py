"""Session: the values that the shards of other processes know by number, and the messages to them."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from diverse_rule_sets.data._shard import ROOT, Definition, Message, Question, Ref

# Sends a message to all shards, and returns their combined answers; None if a shard needs all definitions.
Send = Callable[[Message], list[Any] | None]
# A shard is sent all definitions so often before this is an error: workers are lost again and again.
_MAX_ATTEMPTS = 20


# Operations whose results are the same for all backends of the same records.
_SET_OPERATIONS = ("union", "intersection", "difference")
# So many definitions are remembered at most.
_MAX_IDENTITIES = 200_000


def _comparable(argument: Any) -> Any:
    """Return an argument with identities in place of handles, in a form that can be compared."""
    if isinstance(argument, Handle):
        return "value", argument.identity
    return tuple(map(_comparable, argument)) if isinstance(argument, list) else argument


class _Known:
    """A value of the shards: its definition, and the values that this needs."""

    __slots__ = ("__weakref__", "definition", "in_use", "needs", "number")

    def __init__(self, number: int, definition: Definition, needs: Sequence[_Known]) -> None:
        self.number, self.definition, self.needs = number, definition, needs
        self.in_use = True  # whether there is a handle


class Handle:
    """A value of the shards: a cover, or a backend. The shards keep it until the handle is deleted.

    Parameters
    ----------
    known : its definition
    identity : a number that is the same for values with the same definition, also of handles that are deleted
    """

    __slots__ = ("__weakref__", "identity", "known")

    def __init__(self, known: _Known, identity: int) -> None:
        self.known, self.identity = known, identity

    @property
    def ref(self) -> Ref:
        """The value in messages."""
        return Ref(self.known.number)


class Session:
    """The values that the shards know, and the messages to them.

    Parameters
    ----------
    send : function that sends a message to all shards
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = threading.RLock()
        self._numbers = itertools.count(ROOT + 1)
        self._known: weakref.WeakValueDictionary[int, _Known] = weakref.WeakValueDictionary()
        self._new: list[int] = []
        self._dropped: deque[int] = deque()  # deletions may happen at any time, in any thread
        self._forgotten: deque[int] = deque()
        self._n_messages = 0
        self._identities: dict[Any, int] = {}
        self._next_identity = itertools.count(1)
        self._live: weakref.WeakValueDictionary[int, Handle] = weakref.WeakValueDictionary()
        self.root = Handle(_Known(ROOT, Definition(ROOT, "", ()), ()), 0)

    def define(self, backend: Handle, operation: str, *arguments: Any) -> Handle:
        """Return a value; nothing is sent yet. Arguments may hold handles, also in lists."""
        identity = self._identity(backend, operation, arguments)
        live = self._live.get(identity)
        if live is not None:
            return live
        needs = [backend.known, *(handle.known for handle in _handles_in(arguments))]
        definition = Definition(backend.known.number, operation, with_refs(arguments))
        with self._lock:
            known = _Known(next(self._numbers), definition, needs)
            self._known[known.number] = known
            self._new.append(known.number)
        handle = self._live[identity] = Handle(known, identity)
        weakref.finalize(known, self._forgotten.append, known.number).atexit = False
        weakref.finalize(handle, _drop, known, self._dropped).atexit = False
        return handle

    def _identity(self, backend: Handle, operation: str, arguments: tuple[Any, ...]) -> int:
        """Return the number of a definition; a new one if it cannot be compared with others."""
        of_backend = -1 if operation in _SET_OPERATIONS else backend.identity
        try:
            key = of_backend, operation, *map(_comparable, arguments)
            with self._lock:
                if len(self._identities) > _MAX_IDENTITIES:
                    self._identities.clear()
                return self._identities.setdefault(key, next(self._next_identity))
        except TypeError:  # arrays
            return next(self._next_identity)

    def ask(self, *questions: Question) -> list[Any]:
        """Send questions to all shards in one message, and return the answers."""
        with self._lock:
            message = self._message(questions, is_complete=not self._n_messages)
            for _ in range(_MAX_ATTEMPTS):
                answers = self._send(message)
                if answers is not None:
                    return answers
                message = self._message(questions, is_complete=True)
        raise RuntimeError(f"workers were lost {_MAX_ATTEMPTS} times while one question was answered; the fit ends")

    def _message(self, questions: Sequence[Question], is_complete: bool) -> Message:
        self._n_messages += 1
        dropped, forgotten = _emptied(self._dropped), _emptied(self._forgotten)
        numbers = sorted(self._known.keys()) if is_complete else self._new
        found = [(number, self._known.get(number)) for number in numbers]
        self._new = []
        defined = {number: known.definition for number, known in found if known is not None}
        if is_complete:
            dropped = [number for number, known in found if known is not None and not known.in_use]
        return Message(self._n_messages, is_complete, defined, dropped, forgotten, list(questions))


def _drop(known: _Known, dropped: deque[int]) -> None:
    """Note that a value has no handle any more; others may need its definition."""
    known.in_use = False
    dropped.append(known.number)


def _emptied(numbers: deque[int]) -> list[int]:
    out = []
    while numbers:
        out.append(numbers.popleft())
    return out


def _handles_in(arguments: Sequence[Any]) -> list[Handle]:
    """Return the handles among arguments, also those in lists."""
    found: list[Handle] = []
    for one in arguments:
        if isinstance(one, Handle):
            found.append(one)
        elif isinstance(one, list):
            found += _handles_in(one)
    return found


def with_refs(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return arguments with references in place of handles."""

    def replaced(one: Any) -> Any:
        if isinstance(one, Handle):
            return one.ref
        return [replaced(part) for part in one] if isinstance(one, list) else one

    return tuple(map(replaced, arguments))
