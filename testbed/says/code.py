"""Follows the code of a method as far as texts go: which messages its calls can be given.

Each instruction is followed once, in the order of the code. Where two ways meet, a text is that of either. What is no text, or is
made by another class, is `HOLE`; methods of the same class that return texts are followed.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from testbed.says.class_file import ClassFile, Dynamic, Member, Method

HOLE = "\0"
"""Stands in a text for what only the running program knows."""

Texts = frozenset[str]
_UNKNOWN: Texts = frozenset((HOLE,))
_MOST, _DEEPEST = 12, 3
_PLACEHOLDER = re.compile(r"%(?:\d+\$)?[-#+ 0,(]*\d*(?:\.\d+)?([a-zA-Z%])")
_PARAMETER = re.compile(r"\[*(?:L[^;]+;|[BCDFIJSZ])")


@dataclass(eq=False)
class Made:
    """An object under construction: a StringBuilder with its texts, a StringContext with its parts, an exception."""

    kind: str
    texts: Texts = frozenset(("",))
    parts: list[object] = field(default_factory=list)


@dataclass(frozen=True)
class Closure:
    """A lambda: the method that it calls, and what it holds."""

    method: Member
    held: tuple[object, ...]


class Wide:
    """A long or a double, which takes two places among the local variables."""


_WIDE = Wide()
Call = Callable[[Member, list[object]], None]
"""What is given each call of a method: who is called, and the receiver, unless it is static, and the arguments."""


def texts_of(value: object) -> Texts:
    """Return the texts that a value is in a sentence."""
    if isinstance(value, frozenset):
        return value
    if isinstance(value, Made):
        return value.texts if value.kind.endswith("Builder") else _UNKNOWN
    if isinstance(value, int):
        return frozenset((str(value),))
    return _UNKNOWN


def joined(*pieces: Texts) -> Texts:
    """Return each text that one text of each piece, side by side, make; a piece of many is a hole."""
    total = 1
    for piece in pieces:
        total *= len(piece)
    if total > _MOST:
        pieces = tuple(piece if len(piece) == 1 else _UNKNOWN for piece in pieces)
    return frozenset("".join(texts) for texts in product(*pieces))


def parameters(descriptor: str) -> list[str]:
    """Return the types of a method's parameters."""
    return _PARAMETER.findall(descriptor[: descriptor.index(")")])


def formatted(pattern: str, arguments: list[object] | None) -> Texts:
    """Return the texts of `String.format`."""
    pieces: list[Texts] = []
    rest, values = 0, iter(arguments or ())
    for match in _PLACEHOLDER.finditer(pattern):
        pieces.append(frozenset((pattern[rest : match.start()],)))
        rest = match.end()
        if match[1] in "%n":
            pieces.append(frozenset(("%" if match[1] == "%" else "\n",)))
        else:
            pieces.append(texts_of(next(values, None)))
    return joined(*pieces, frozenset((pattern[rest:],)))


def substituted(pattern: str, arguments: list[object]) -> Texts:
    """Return the texts of a message of SLF4J, whose `{}` are arguments."""
    pieces: list[Texts] = []
    first, *others = pattern.split("{}")
    values = iter(arguments)
    for other in others:
        pieces += [texts_of(next(values, None)), frozenset((other,))]
    return joined(frozenset((first,)), *pieces)


def _merged(one: object, other: object) -> object:
    if one is other or one == other:
        return one
    if isinstance(one, frozenset) or isinstance(other, frozenset):
        both = texts_of(one) | texts_of(other)
        return both if len(both) <= _MOST else _UNKNOWN
    return None


class _Follower:
    """Follows one method."""

    def __init__(self, of: ClassFile, method: Method, arguments: list[object], call: Call, depth: int) -> None:
        self.of, self.method, self.call, self.depth = of, method, call, depth
        self.stack: list[object] = []
        self.local: dict[int, object] = {}
        self.counters = _counters(method.code, self.size)
        place = 0
        for value in arguments:
            self.local[place] = value
            place += 2 if value is _WIDE else 1
        self.waiting: dict[int, tuple[list[object], dict[int, object]]] = {}
        self.starts: dict[int, dict[int, object]] = {}
        self.returned: object = None
        self.has_returned = False

    def follow(self) -> object:
        """Return the value that the method returns."""
        code, place, reached = self.method.code, 0, True
        guarded = set(self.method.handlers.values())
        while place < len(code):
            if place in self.waiting:
                stack, local = self.waiting.pop(place)
                if reached and len(stack) == len(self.stack):
                    self.stack = [_merged(*pair) for pair in zip(self.stack, stack, strict=True)]
                    self.local = {key: _merged(self.local[key], local[key]) for key in self.local.keys() & local.keys()}
                elif not reached:
                    self.stack, self.local = stack, local
            elif place in self.method.handlers:
                self.stack, self.local = [None], dict(self.starts.get(self.method.handlers[place], self.local))
            elif not reached:  # the body of a loop whose condition is below it
                self.stack = []
            if place in guarded:
                self.starts[place] = dict(self.local)
            size = self.size(place)
            reached = self.step(code[place], place)
            place += size
        return self.returned

    def size(self, place: int) -> int:
        code, opcode = self.method.code, self.method.code[place]
        if opcode in (0xAA, 0xAB):  # tableswitch, lookupswitch
            start = (place + 4) & ~3
            first, second = self.s4(start + 4), self.s4(start + 8)
            return start - place + (12 + 4 * (second - first + 1) if opcode == 0xAA else 8 + 8 * first)
        if opcode == 0xC4:  # wide
            return 6 if code[place + 1] == 0x84 else 4
        return _LENGTHS.get(opcode, 1)

    def s4(self, place: int) -> int:
        return int.from_bytes(self.method.code[place : place + 4], signed=True)

    def u2(self, place: int) -> int:
        return int.from_bytes(self.method.code[place : place + 2])

    def pop(self, count: int = 1) -> object:
        value: object = None
        for _ in range(count):
            value = self.stack.pop() if self.stack else None
        return value

    def jump(self, place: int, by: int) -> None:
        if by <= 0:
            return
        target = place + by
        if target in self.waiting:
            stack, local = self.waiting[target]
            if len(stack) == len(self.stack):
                stack = [_merged(*pair) for pair in zip(stack, self.stack, strict=True)]
            self.waiting[target] = stack, {key: _merged(local[key], self.local[key]) for key in local.keys() & self.local.keys()}
        else:
            self.waiting[target] = list(self.stack), dict(self.local)

    def step(self, opcode: int, place: int) -> bool:  # noqa: C901, PLR0912, PLR0915 -- a table of instructions
        """Carry out one instruction; return whether the next one is reached from it."""
        code, stack = self.method.code, self.stack
        if opcode <= 0x0F or opcode in (0x10, 0x11):
            if 0x02 <= opcode <= 0x08:
                stack.append(opcode - 3)
            elif opcode == 0x10:
                stack.append(int.from_bytes(code[place + 1 : place + 2], signed=True))
            elif opcode == 0x11:
                stack.append(int.from_bytes(code[place + 1 : place + 3], signed=True))
            elif opcode:
                stack.append(_WIDE if opcode in (0x09, 0x0A, 0x0E, 0x0F) else None)
        elif opcode in (0x12, 0x13):
            index = code[place + 1] if opcode == 0x12 else self.u2(place + 1)
            value = self.of.constant(index)
            stack.append(frozenset((str(value),)) if self.of.is_text(index) else value if isinstance(value, int) else None)
        elif opcode == 0x14:
            stack.append(_WIDE)
        elif 0x15 <= opcode <= 0x2D:  # loads
            self.load(code[place + 1] if opcode <= 0x19 else (opcode - 0x1A) % 4, _LOADS[opcode])
        elif 0x2E <= opcode <= 0x35:  # from arrays
            at, array = self.pop(), self.pop()
            wide = _WIDE if opcode in (0x2F, 0x31) else None
            stack.append(array[at] if isinstance(array, list) and isinstance(at, int) and 0 <= at < len(array) else wide)
        elif 0x36 <= opcode <= 0x4E:  # stores
            self.store(code[place + 1] if opcode <= 0x3A else (opcode - 0x3B) % 4)
        elif 0x4F <= opcode <= 0x56:
            stored, at, array = self.pop(), self.pop(), self.pop()
            if isinstance(array, list) and isinstance(at, int) and 0 <= at < len(array):
                array[at] = stored
        elif opcode in (0x57, 0x58):
            if self.pop() is not _WIDE and opcode == 0x58:
                self.pop()
        elif 0x59 <= opcode <= 0x5F:
            self.duplicate(opcode)
        elif 0x60 <= opcode <= 0x83:  # arithmetic
            if not 0x74 <= opcode <= 0x77:
                self.pop()
            self.pop()
            stack.append(_WIDE if opcode % 2 else None)
        elif 0x85 <= opcode <= 0x93:
            self.pop()
            stack.append(_WIDE if opcode in (0x85, 0x87, 0x8A, 0x8C, 0x8D, 0x8F) else None)
        elif 0x94 <= opcode <= 0x98:
            self.pop(2)
            stack.append(None)
        elif 0x99 <= opcode <= 0xA6 or opcode in (0xC6, 0xC7):
            self.pop(2 if 0x9F <= opcode <= 0xA6 else 1)
            self.jump(place, int.from_bytes(code[place + 1 : place + 3], signed=True))
        elif opcode in (0xA7, 0xC8):
            self.jump(place, self.s4(place + 1) if opcode == 0xC8 else int.from_bytes(code[place + 1 : place + 3], signed=True))
            return False
        elif opcode in (0xAA, 0xAB):
            self.pop()
            start = (place + 4) & ~3
            size = self.size(place)
            for at in (start, *range(start + 12, place + size, 4 if opcode == 0xAA else 8)):
                self.jump(place, self.s4(at))
            return False
        elif 0xAC <= opcode <= 0xB1:
            value = None if opcode == 0xB1 else self.pop()
            self.returned = _merged(self.returned, value) if self.has_returned else value
            self.has_returned = True
            return False
        elif 0xB2 <= opcode <= 0xB5:
            member = self.of.constant(self.u2(place + 1))
            assert isinstance(member, Member)
            self.pop({0xB2: 0, 0xB3: 1, 0xB4: 1, 0xB5: 2}[opcode])
            if opcode in (0xB2, 0xB4):
                stack.append(_WIDE if member.descriptor in "JD" else None)
        elif 0xB6 <= opcode <= 0xB9:
            member = self.of.constant(self.u2(place + 1))
            assert isinstance(member, Member)
            self.invoke(member, static=opcode == 0xB8)
        elif opcode == 0xBA:
            self.link(self.of.constant(self.u2(place + 1)))
        elif opcode == 0xBB:
            stack.append(Made(str(self.of.constant(self.u2(place + 1)))))
        elif opcode in (0xBC, 0xBD):
            length = self.pop()
            stack.append([None] * length if isinstance(length, int) and 0 <= length < 100 else None)
        elif opcode == 0xBF:
            return False
        elif opcode in (0xBE, 0xC1):
            self.pop()
            stack.append(None)
        elif opcode in (0xC2, 0xC3):
            self.pop()
        elif opcode == 0xC4:
            inner, index = code[place + 1], self.u2(place + 2)
            if inner <= 0x19:
                self.load(index, _LOADS[inner])
            elif inner <= 0x3A:
                self.store(index)
        elif opcode == 0xC5:
            self.pop(code[place + 3])
            stack.append(None)
        return True

    def load(self, index: int, kind: str) -> None:
        self.stack.append(_WIDE if kind in "JD" else self.local.get(index))

    def store(self, index: int) -> None:
        value = self.pop()
        self.local[index] = None if index in self.counters else value

    def duplicate(self, opcode: int) -> None:
        stack = self.stack
        if opcode == 0x5F:
            first, second = self.pop(), self.pop()
            stack += [first, second]
            return
        two = opcode >= 0x5C
        top = [self.pop()]
        if two and top[0] is not _WIDE:
            top.insert(0, self.pop())
        below: list[object] = []
        if opcode not in (0x59, 0x5C):
            below = [self.pop()]
            if opcode in (0x5B, 0x5E) and below[0] is not _WIDE:
                below.insert(0, self.pop())
        stack += [*top, *below, *top]

    def invoke(self, member: Member, *, static: bool) -> None:
        """Carry out a call: what is known of texts is done, what is not returns a hole."""
        count = len(parameters(member.descriptor))
        arguments = [self.pop() for _ in range(count)][::-1]
        if not static:
            arguments.insert(0, self.pop())
        self.call(member, arguments)
        returns = member.descriptor[member.descriptor.index(")") + 1 :]
        value = self.result(member, arguments)
        if returns != "V":
            self.stack.append(_WIDE if returns in "JD" else value)

    def result(self, member: Member, arguments: list[object]) -> object:  # noqa: C901, PLR0911, PLR0912 -- one case a method
        """Return what a call returns, as far as it is known."""
        owner, name = member.owner, member.name
        receiver = arguments[0] if arguments else None
        if name == "<init>" and isinstance(receiver, Made):
            if receiver.kind.endswith("StringContext") and len(arguments) > 1 and isinstance(arguments[1], list):
                receiver.parts = arguments[1]
            elif receiver.kind.endswith(("StringBuilder", "StringBuffer")) and "String;" in member.descriptor:
                receiver.texts = texts_of(arguments[1])
            elif "StringOps" in receiver.kind or "StringLike" in receiver.kind:
                receiver.parts = arguments[1:]
            return None
        if isinstance(receiver, Made) and receiver.kind.endswith(("StringBuilder", "StringBuffer")):
            if name == "append" and len(arguments) == 2:
                value = arguments[1]
                is_letter = "(C)" in member.descriptor and isinstance(value, int)
                receiver.texts = joined(receiver.texts, frozenset((chr(value),)) if is_letter else texts_of(value))  # type: ignore[arg-type]
                return receiver
            return receiver.texts if name in ("toString", "result") else None
        if isinstance(receiver, Made) and receiver.kind.endswith("StringContext") and name in ("s", "f"):
            return self.interpolated(receiver, arguments[1] if len(arguments) > 1 else None)
        if (
            name
            in ("augmentString", "wrapString", "wrapRefArray", "genericWrapArray", "wrapIntArray", "wrapLongArray", "valueOf")
            and arguments
        ):
            return receiver if len(arguments) == 1 else arguments[1] if name == "valueOf" else arguments[-1]
        if name in ("wrapRefArray", "genericWrapArray"):
            return arguments[-1]
        if (owner, name) == ("java/lang/String", "format"):
            pattern, *values = arguments[-2:]
            return self.all_formatted(pattern, values[0])
        if name in ("format", "format$extension", "formatted") and len(arguments) >= 2:
            pattern = receiver.parts[0] if isinstance(receiver, Made) and receiver.parts else receiver
            pattern = arguments[1] if len(arguments) == 3 else pattern
            return self.all_formatted(pattern, arguments[-1])
        if name in ("stripMargin", "stripMargin$extension", "trim", "strip", "stripIndent", "intern", "toString"):
            text = receiver.parts[0] if isinstance(receiver, Made) and receiver.parts else arguments[-1]
            return frozenset(re.sub(r"(?m)^\s*\|", "", one).strip() for one in text) if isinstance(text, frozenset) else None
        if name == "apply" and isinstance(receiver, Closure) and receiver.method.owner == self.of.name:
            return self.of_own(receiver.method, [*receiver.held, *arguments[1:]])
        if (owner, name) == ("java/lang/String", "replace"):  # of line ends, by spaces
            return receiver
        if name.startswith("msgWithLogIdent"):  # what the optimizer of Scala leaves of Kafka's `Logging`
            return arguments[-1]
        if (owner, name) == ("java/lang/String", "concat") or (name == "$plus" and "String" in owner):
            return joined(texts_of(receiver), texts_of(arguments[1]))
        if owner == self.of.name and member.descriptor.endswith(")Ljava/lang/String;"):
            return self.of_own(member, arguments)
        return None

    def of_own(self, member: Member, arguments: list[object]) -> object:
        """Return what a method of this class returns for these arguments."""
        method = self.of.methods.get((member.name, member.descriptor))
        if method is None or self.depth >= _DEEPEST:
            return None
        return _Follower(self.of, method, arguments, lambda _member, _arguments: None, self.depth + 1).follow()

    @staticmethod
    def all_formatted(pattern: object, values: object) -> Texts:
        found: set[str] = set()
        for text in texts_of(pattern):
            found |= formatted(text, values if isinstance(values, list) else None)
        return frozenset(found) if len(found) <= _MOST else _UNKNOWN

    @staticmethod
    def interpolated(context: Made, values: object) -> Texts:
        given = iter(values) if isinstance(values, list) else iter(())
        pieces: list[Texts] = []
        for part in context.parts:
            pieces += [texts_of(part), texts_of(next(given, None))]
        return joined(*pieces[:-1]) if pieces else _UNKNOWN

    def link(self, site: object) -> None:
        """Carry out a dynamic call: a concatenation, or the making of a lambda."""
        assert isinstance(site, Dynamic)
        count = len(parameters(site.descriptor))
        arguments = [self.pop() for _ in range(count)][::-1]
        if site.bootstrap.name == "makeConcatWithConstants":
            recipe, constants = str(site.arguments[0]), iter(site.arguments[1:])
            kinds, values = iter(parameters(site.descriptor)), iter(arguments)
            pieces: list[Texts] = []
            for letter in re.split("([\1\2])", recipe):
                if letter == "\1":
                    value, kind = next(values), next(kinds)
                    is_letter = kind == "C" and isinstance(value, int)
                    pieces.append(frozenset((chr(value),)) if is_letter else texts_of(value))  # type: ignore[arg-type]
                else:
                    pieces.append(frozenset((str(next(constants)),)) if letter == "\2" else frozenset((letter,)))
            self.stack.append(joined(*pieces))
            return
        target = next((argument for argument in site.arguments if isinstance(argument, Member)), None)
        self.stack.append(Closure(target, tuple(arguments)) if target else None)


def _counters(code: bytes, size: Callable[[int], int]) -> set[int]:
    """Return the local variables that loops count up, which have no value to be named."""
    found, place = set(), 0
    while place < len(code):
        if code[place] == 0x84:
            found.add(code[place + 1])
        place += size(place)
    return found


def follow(of: ClassFile, call: Callable[[Method, Member, list[object]], None]) -> None:
    """Follow all methods of a class, and give `call` each call in them."""
    for method in of.methods.values():
        arguments: list[object] = [] if method.static else [None]
        arguments += [_WIDE if kind in "JD" else None for kind in parameters(method.descriptor)]

        def called(member: Member, values: list[object], method: Method = method) -> None:
            call(method, member, values)

        _Follower(of, method, arguments, called, 0).follow()


def closure_texts(of: ClassFile, closure: Closure) -> Texts:
    """Return the texts that a lambda without parameters returns."""
    method = of.methods.get((closure.method.name, closure.method.descriptor))
    if closure.method.owner != of.name or method is None:
        return _UNKNOWN
    held = list(closure.held)
    return texts_of(_Follower(of, method, held, lambda _member, _arguments: None, 1).follow())


def _lengths() -> Iterator[tuple[int, int]]:
    for opcode in (0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC):
        yield opcode, 2
    for opcode in (0x11, 0x13, 0x14, 0x84, *range(0x99, 0xA9), *range(0xB2, 0xB9), 0xBB, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7):
        yield opcode, 3
    for opcode in (0xB9, 0xBA, 0xC8, 0xC9):
        yield opcode, 5
    yield 0xC5, 4


_LENGTHS = dict(_lengths())
_LOADS = {0x15 + kind: "IJFDA"[kind] for kind in range(5)} | {0x1A + place: "IJFDA"[place // 4] for place in range(20)}
