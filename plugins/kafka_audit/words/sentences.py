"""Sentences: templates of ours, filled with values.

A template is Jinja2, with one difference: a placeholder has single braces, `{broker}`, as in commands and pages. A value is data:
it is bounded, it stays on one line, and it is never a template itself. A name without a value is `(name: unknown)`.

Messages of checks have placeholders alone, each with at most one filter. Those are filled here, so that an audit without
incidents does not load Jinja2 and compile a hundred messages, which takes 0.1 s.

| filter | result for `2`, or for a list of ids |
|---|---|
| `form('# topic is', '# topics are')` | the first form for one, the other for any other number; `#` is the number, or the list |
| `listed` | `0, 1 and 2`: a list as a sentence has it; without a filter, commas alone separate its values |
| `most(3)` | `brokers 0 and 1`, `4 brokers`: a list of a story that names at most three |
| `capital` | the same with a capital first |
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka_audit.model.finding import as_text
from kafka_audit.model.text import LONGEST, brokers, clean, listing, start_upper

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_CLAUSE = re.compile(r": |, | \(")
"""Where a clause of a message begins that a headline can omit."""

_SENTENCE_END = re.compile(r"\. |;|\n")
_IN_BRACES = re.compile(r"\{[^{}]*\}")
_PLACEHOLDER = re.compile(r"\{(\w+)(?:\|(\w+)(?:\('([^'\\]*)', '([^'\\]*)'\))?)?\}")

# Marks in a template of a message. No value contains one: `clean` writes control characters as text.
_CUT, _END = "\x1e", "\x1f"


class Written(str):
    """A text that is fit for a sentence as it is."""

    __slots__ = ()


class NamedList(tuple[Any, ...]):
    """A list that a story names: ids of brokers as `brokers 0 and 1`, anything else as `a, b and c`."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return its text."""
        return self.most(None)

    def most(self, limit: int | None) -> Written:
        """Return its text with at most so many names."""
        ids = [item for item in self if isinstance(item, int)]
        return Written(brokers(ids, limit or 6) if ids else listing(self, limit or 10))


_NAMED = 3
"""Names of a list that is too long for a sentence."""

_AS_IT_IS = (Written, NamedList)


class Message(NamedTuple):
    """What a check says of a resource: a filled template, with the marks of `_marked`."""

    filled: str

    @property
    def text(self) -> str:
        """All of it."""
        return self.filled.replace(_CUT, "").replace(_END, "")

    @property
    def headlines(self) -> tuple[str, ...]:
        """Its first sentence, and what is left of that if its last clauses are omitted, the longest first."""
        clauses = self.filled.partition(_END)[0].split(_CUT)
        return tuple("".join(clauses[:count]) for count in range(len(clauses), 0, -1))


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Return a template filled with values."""
    pieces = _pieces(template)
    return _compiled(template).render(values) if pieces is None else "".join(piece.filled(values) for piece in pieces)


def message(template: str, evidence: Mapping[str, Any]) -> Message:
    """Return the message of a check's template.

    Its first sentence and its clauses are those of the template: a value of a cluster may contain a full stop.
    """
    return Message(fill(_marked(template), evidence))


def holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Return whether a condition holds, such as `moved and not kraft`; a name without a value is false."""
    return bool(_condition(condition)(**values))


@lru_cache(maxsize=4096)
def _marked(template: str) -> str:
    """Return a template with a mark before each clause of its first sentence, and one at the end of that sentence."""
    plain = _IN_BRACES.sub(lambda match: "_" * len(match[0]), template)  # what stands in braces is never cut
    end = _SENTENCE_END.search(plain)
    first = template[: end and end.start()].rstrip(". ")
    starts = [match.start() for match in _CLAUSE.finditer(plain, 0, len(first))]
    clauses = [first[start:stop] for start, stop in zip([0, *starts], [*starts, None], strict=True)]
    return f"{_CUT.join(clauses)}{_END}{template[len(first) :]}"


class _Piece(NamedTuple):
    """A text, and the placeholder behind it; the last piece of a template has none."""

    text: str
    name: str = ""
    use: str | None = None
    forms: tuple[str, ...] = ()

    def filled(self, values: Mapping[str, Any]) -> str:
        if not self.name:
            return self.text
        value = values[self.name] if self.name in values else Written(f"({self.name}: unknown)")
        return self.text + _written(value if self.use is None else _FILTERS[self.use](value, *self.forms))


@lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[_Piece, ...] | None:
    """Return the pieces of a template that has placeholders alone; None where Jinja2 has to read it.

    Raises:
        ValueError: a placeholder has a filter that does not exist.
    """
    pieces, end = [], 0
    for found in _PLACEHOLDER.finditer(template):
        name, use, *forms = found.groups()
        if use not in {None, *_FILTERS}:
            msg = f"no filter {use!r} for {name!r} in {template!r}; known: {', '.join(_FILTERS)}"
            raise ValueError(msg)
        pieces.append(_Piece(template[end : found.start()], name, use, tuple(form for form in forms if form is not None)))
        end = found.end()
    pieces.append(_Piece(template[end:]))
    return None if any("{" in piece.text for piece in pieces) else tuple(pieces)


@lru_cache(maxsize=4096)
def _compiled(template: str) -> "Template":
    return _environment().from_string(template)


@lru_cache(maxsize=4096)
def _condition(condition: str) -> Callable[..., Any]:
    return _environment().compile_expression(condition)


def _written(value: Any) -> str:  # noqa: ANN401 -- a value of evidence or a fact
    """Return a value as a sentence shows it."""
    if type(value) is int or isinstance(value, _AS_IT_IS):  # most values are numbers
        return str(value)
    text = as_text(value)
    if isinstance(value, tuple) and len(text) > LONGEST:  # else the cut falls into a name
        return listing(map(as_text, value), _NAMED)
    return clean(text)


def _listed(value: Any) -> Written:  # noqa: ANN401 -- as `_written`
    return Written(listing(value) if isinstance(value, tuple) else _written(value))


def _most(value: Any, limit: int) -> Written:  # noqa: ANN401 -- as `_written`
    return value.most(limit) if isinstance(value, NamedList) else Written(_written(value))


def _capital(value: Any) -> Written:  # noqa: ANN401 -- as `_written`
    return Written(start_upper(_written(value)))


def _form(value: Any, single: str, plural: str) -> Written:  # noqa: ANN401 -- as `_written`
    items = isinstance(value, tuple)
    one = len(value) == 1 if items else value == 1
    text = listing(value) if items and not isinstance(value, NamedList) else _written(value)
    return Written((single if one else plural).replace("#", text))


_FILTERS: dict[str, Callable[..., Written]] = {"form": _form, "listed": _listed, "most": _most, "capital": _capital}


@cache
def _environment() -> "Environment":
    from jinja2 import ChainableUndefined, Environment  # noqa: PLC0415 -- see above

    class Unknown(ChainableUndefined):
        """A name without a value, which must not stop the audit."""

        __slots__ = ()

        def __str__(self) -> str:
            return f"({self._undefined_name}: unknown)"

    environment = Environment(
        variable_start_string="{",
        variable_end_string="}",
        autoescape=False,  # noqa: S701 -- pages and mails escape what they show
        finalize=_written,
        undefined=Unknown,
    )
    environment.globals.clear()
    environment.filters = dict(_FILTERS)
    return environment
