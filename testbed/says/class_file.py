"""Reads a class file: its constants, its methods and their code (The Java Virtual Machine Specification, chapter 4)."""

from dataclasses import dataclass, field

_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
_UTF8, _INTEGER, _LONG, _DOUBLE, _CLASS, _STRING, _NAME_AND_TYPE, _HANDLE = 1, 3, 5, 6, 7, 8, 12, 15
_MEMBERS, _DYNAMIC = (9, 10, 11), (17, 18)
_STATIC = 0x8


@dataclass(frozen=True)
class Member:
    """A field or method that code names: its class with slashes, its name and its descriptor."""

    owner: str
    name: str
    descriptor: str


@dataclass(frozen=True)
class Dynamic:
    """A call site that a bootstrap method links: its descriptor, the bootstrap, and the constants that the bootstrap gets."""

    descriptor: str
    bootstrap: Member
    arguments: tuple[object, ...]


@dataclass(frozen=True)
class Method:
    """A method with code. `handlers` are the first instructions of its catch blocks, each with the start of what they guard."""

    name: str
    descriptor: str
    static: bool
    code: bytes
    handlers: dict[int, int]


@dataclass
class ClassFile:
    """One class: its name with slashes, and its methods by name and descriptor."""

    data: bytes
    name: str = ""
    methods: dict[tuple[str, str], Method] = field(default_factory=dict)
    _pool: list[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])  # tag and place of each constant
    _bootstraps: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read all but the constants' values, which are read when they are asked for."""
        place, count = 10, self._u2(8)
        while len(self._pool) < count:
            tag = self.data[place]
            self._pool.append((tag, place + 1))
            if tag in (_LONG, _DOUBLE):
                self._pool.append((0, 0))
            place += 1 + (2 + self._u2(place + 1) if tag == _UTF8 else _SIZES[tag])
        self.name = str(self.constant(self._u2(place + 2)))
        place += 10 + 2 * self._u2(place + 6)
        for _ in range(self._u2(place - 2)):  # fields
            place = self._attributes(place + 6)[0]
        place += 2
        for _ in range(self._u2(place - 2)):
            start = place
            place, found = self._attributes(place + 6)
            if "Code" in found:
                self._add_method(start, found["Code"])
        found = self._attributes(place)[1]
        if "BootstrapMethods" in found:
            self._read_bootstraps(found["BootstrapMethods"])

    def constant(self, index: int) -> object:  # noqa: PLR0911 -- one for each kind
        """Return a constant: a text, a number, the name of a class, a `Member` or a `Dynamic`; None for others."""
        tag, place = self._pool[index]
        first, second = self._u2(place), self._u2(place + 2)
        if tag == _UTF8:
            return self.data[place + 2 : place + 2 + first].replace(b"\xc0\x80", b"\0").decode("utf-8", "replace")
        if tag in (_CLASS, _STRING):
            return self.constant(first)
        if tag == _INTEGER:
            return int.from_bytes(self.data[place : place + 4], signed=True)
        if tag in _MEMBERS:
            name, descriptor = self._named(second)
            return Member(str(self.constant(first)), name, descriptor)
        if tag == _HANDLE:
            return self.constant(self._u2(place + 1))
        if tag in _DYNAMIC:
            handle, arguments = self._bootstraps[first]
            bootstrap = self.constant(handle)
            assert isinstance(bootstrap, Member)
            return Dynamic(self._named(second)[1], bootstrap, tuple(self.constant(argument) for argument in arguments))
        return None

    def is_text(self, index: int) -> bool:
        """Return whether a constant is a text that code loads."""
        return self._pool[index][0] == _STRING

    def _named(self, index: int) -> tuple[str, str]:
        tag, place = self._pool[index]
        assert tag == _NAME_AND_TYPE
        return str(self.constant(self._u2(place))), str(self.constant(self._u2(place + 2)))

    def _attributes(self, place: int) -> tuple[int, dict[str, int]]:
        """Return where the attributes end that begin with their number here, and where the content of each begins."""
        found: dict[str, int] = {}
        count, place = self._u2(place), place + 2
        for _ in range(count):
            found[str(self.constant(self._u2(place)))] = place + 6
            place += 6 + self._u4(place + 2)
        return place, found

    def _add_method(self, start: int, code: int) -> None:
        name, descriptor = str(self.constant(self._u2(start + 2))), str(self.constant(self._u2(start + 4)))
        length = self._u4(code + 4)
        table = code + 8 + length
        rows = range(table + 2, table + 2 + 8 * self._u2(table), 8)
        handlers = {self._u2(row + 4): self._u2(row) for row in reversed(rows)}
        static = bool(self._u2(start) & _STATIC)
        self.methods[name, descriptor] = Method(name, descriptor, static, self.data[code + 8 : code + 8 + length], handlers)

    def _read_bootstraps(self, place: int) -> None:
        count, place = self._u2(place), place + 2
        for _ in range(count):
            arguments = range(place + 4, place + 4 + 2 * self._u2(place + 2), 2)
            self._bootstraps.append((self._u2(place), tuple(self._u2(argument) for argument in arguments)))
            place = arguments.stop

    def _u2(self, place: int) -> int:
        return int.from_bytes(self.data[place : place + 2])

    def _u4(self, place: int) -> int:
        return int.from_bytes(self.data[place : place + 4])
