"""Messages: the template of a check, filled with the evidence of a judgement."""

import re
from collections.abc import Mapping

from kafka_audit.model.finding import Value, as_text
from kafka_audit.model.text import clean, listing

_CLAUSE = re.compile(r": |, | \(")
"""Where a clause of a message begins that a headline can omit."""


class _FormattedValue:
    """A value of evidence in a template.

    `{count:# topic|# topics}` is `1 topic` or `3 topics`, `{brokers:broker #|brokers #}` is `broker 2` or `brokers 1 and 2`:
    the form before the bar stands for one, the other for any other number; `#` is the number, or the list.
    """

    def __init__(self, value: Value) -> None:
        self._value = value

    def __str__(self) -> str:
        return clean(as_text(self._value))

    def __format__(self, forms: str) -> str:
        if not forms:
            return str(self)
        singular, _, plural = forms.partition("|")
        items = self._value if isinstance(self._value, tuple) else None
        single = str(self) == "1" if items is None else len(items) == 1
        return (singular if single else plural).replace("#", str(self) if items is None else listing(items))


class _FormattedEvidence(dict[str, _FormattedValue]):
    """Evidence for a template; a missing key must not stop the whole audit."""

    def __missing__(self, key: str) -> _FormattedValue:
        return _FormattedValue(f"({key}: unknown)")


def message(template: str, evidence: Mapping[str, Value]) -> str:
    """Return what a check says of a resource."""
    return template.format_map(_FormattedEvidence({key: _FormattedValue(value) for key, value in evidence.items()}))


def headlines(template: str, evidence: Mapping[str, Value]) -> tuple[str, ...]:
    """Return the first sentence of a message, and what is left of it if its last clauses are omitted, longest first.

    The sentence is that of the template: a value of a cluster may contain a full stop.
    """
    sentence = _first_sentence(template)
    ends = sorted((match.start() for match in _CLAUSE.finditer(_without_forms(sentence))), reverse=True)
    return tuple(message(text, evidence) for text in (sentence, *(sentence[:end] for end in ends)))


def _first_sentence(template: str) -> str:
    """Return the beginning of a check's own template that is a complete headline."""
    ends = [at for end in (". ", ";", "\n") if (at := template.find(end)) >= 0]
    return template[: min(ends, default=None)].rstrip(". ")


def _without_forms(template: str) -> str:
    """Return a template of the same length without what stands in braces, which is never cut."""
    return re.sub(r"\{[^{}]*\}", lambda match: "_" * len(match[0]), template)
