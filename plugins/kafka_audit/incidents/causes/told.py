"""The story of a case: the texts of the YAML file beside a cause, filled with facts.

A story has these parts; each but `headline` may be missing.

| part | what it is |
|---|---|
| `with` | texts that the other parts name as facts |
| `headline` | one or several, the longest first: the first that fits is taken |
| `impact`, `why` | a text, or several that are joined |
| `not_known` | texts |
| `changes` | kinds of changes since the previous snapshot that are evidence as well |
| `steps` | `see`, `quick`, `lasting` or `do_not` with a text, `run`, `cost` and `when`; `prove`; a fact that is steps |

A text names facts: `{brokers}`. `{brokers:is|are}` has a form for one, and a form for any other number, in which `#` is the fact;
`{brokers:3}` names at most three; `{Brokers}` begins with a capital. Where a text may stand, a mapping chooses one: the first
whose key is a fact that is true (or `not` one that is false), else that of `else`, else none; `each: reasons`, `as: reason` and
`of` yield texts for each item.

`run` lists templates of commands (`# …` is a comment), `{lines}`, which is a fact that holds commands, and `each: endpoints`
with `run` once for each item, whose attributes its template names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any

from kafka_audit.incidents.causes.repair import connect_commands, prove
from kafka_audit.incidents.causes.rule import Case, Story, changed_before, evidence_of
from kafka_audit.model.commands import Line, command, remark
from kafka_audit.model.finding import HEDGE, CauseCandidate, Confidence, Evidence, Step
from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.model.text import brokers, clean, fitting, listing, start_upper

_LIST = (tuple, list)
_LONGEST = 2000  # characters of a fact


def told(  # noqa: PLR0913 -- what no template can say
    case: Case,
    name: str,
    *,
    evidence: Sequence[Evidence] | None = None,
    against: Iterable[Evidence] = (),
    not_known: Iterable[str] = (),
    confidence: Confidence | None = None,
    candidates: tuple[CauseCandidate, ...] = (),
    cause: str | None = None,
    **facts: object,
) -> Story:
    """Return the story of a case.

    Args:
        case: its brokers, endpoints and mode are facts of every story.
        name: of the file and the story in it: `listeners/addresses shared`.
        evidence: what speaks for it, if that is not the case's own findings.
        against: what speaks against it.
        not_known: further texts; those of the template come first.
        confidence: if it is not that of the findings.
        candidates: causes that are weighed.
        cause: the code, if it is not that of the findings.
        facts: numbers, texts, lists of texts, ids of brokers, commands and steps by name. Texts are cleaned here.
    """
    sure = confidence or case.confidence()
    template, filled = _template(name), _filled(case, name, sure, facts)
    return Story(
        headline=fitting([*filled.texts(template["headline"])]),
        impact=filled.joined(template.get("impact", "")),
        confidence=sure,
        why=filled.joined(template.get("why", "")),
        speaks_for=(
            *(evidence_of(case.roots) if evidence is None else evidence),
            *changed_before(case, template.get("changes", ())),
        ),
        against=tuple(against),
        not_known=(*filled.texts(template.get("not_known", ())), *not_known),
        steps=tuple(filled.steps(case, template.get("steps", ()))),
        cause=cause,
        candidates=candidates,
    )


def _filled(case: Case, name: str, confidence: Confidence, facts: Mapping[str, object]) -> "_StoryFacts":
    filled = _StoryFacts(case, confidence, facts)
    for fact, text in _template(name).get("with", {}).items():
        filled[fact] = filled.joined(text)
    return filled


@cache
def _template(name: str) -> Mapping[str, Any]:
    file, story = name.split()
    found: Mapping[str, Any] = package_yaml(__package__, *f"{file}.yaml".split("/"))[story]
    return found


class _Fact:
    """A fact in a text; numbers in a list are ids of brokers."""

    def __init__(self, value: object, *, capital: bool = False) -> None:
        self._value, self._capital = value, capital

    def __format__(self, form: str) -> str:
        if not form or form.isdecimal():
            return self._named(int(form) if form else None)
        singular, _, plural = form.partition("|")
        single = (len(self._value) if isinstance(self._value, _LIST) else self._value) == 1
        return (singular if single else plural).replace("#", self._named(None))

    def _named(self, most: int | None) -> str:
        if not isinstance(self._value, _LIST):
            text = clean(self._value, _LONGEST)
        else:
            ids = [item for item in self._value if isinstance(item, int)]
            text = brokers(ids, most or 6) if ids else listing(self._value, most or 10)
        return start_upper(text) if self._capital else text


class _Texts(dict[str, _Fact]):
    """Facts for `str.format_map`."""

    def __init__(self, facts: "_StoryFacts") -> None:
        self._facts = facts

    def __missing__(self, name: str) -> _Fact:
        if name in self._facts or not name[0].isupper():
            return _Fact(self._facts[name])
        return _Fact(self._facts[name[0].lower() + name[1:]], capital=True)


class _StoryFacts(dict[str, Any]):
    """The facts of a story by name; one that is missing must not stop the audit."""

    def __init__(self, case: Case, confidence: Confidence, facts: Mapping[str, object]) -> None:
        view = case.view
        super().__init__(
            brokers=case.brokers,
            cluster=view.snapshot.cluster,
            connect=connect_commands(case.endpoints, 5),
            controller=view.controller,
            has_controller=view.controller is not None,
            empty=tuple(broker for broker in case.brokers if broker in case.empty),
            endpoints=case.endpoints,
            hedge=HEDGE[confidence],
            kraft=view.kraft,
            number=len(case.brokers),
            roots=len(case.roots),
            zookeeper_read=view.zookeeper_read,
            **{sure.value: sure is confidence for sure in Confidence},
        )
        self.update(facts)

    def __missing__(self, name: str) -> object:
        return f"({name}: unknown)"

    def texts(self, node: Any) -> Iterator[str]:  # noqa: ANN401 -- a text, a choice or a list of these
        """Yield the texts that a part of a template has for these facts."""
        if isinstance(node, str):
            yield node.format_map(_Texts(self))
        elif "each" in node:
            for item in self[node["each"]]:
                self[node["as"]] = item
                yield from self.texts(node["of"])
        elif isinstance(node, Mapping):
            chosen = next((text for condition, text in node.items() if self._holds(condition)), None)
            yield from () if chosen is None else self.texts(chosen)
        else:
            for part in node:
                yield from self.texts(part)

    def joined(self, node: Any) -> str:  # noqa: ANN401 -- as `texts`
        """Return the same as one text."""
        return " ".join(filter(None, self.texts(node)))

    def _holds(self, condition: str) -> bool:
        name = condition.removeprefix("not ")
        return condition == "else" or bool(self.get(name)) is (name == condition)

    def steps(self, case: Case, raw: Iterable[Any]) -> Iterator[Step]:
        """Yield the steps of a template."""
        for step in raw:
            if step == "prove":
                yield prove(case)
            elif isinstance(step, str):
                yield from self[step]
            elif self._holds(step.get("when", "else")) and (text := self.joined(step[(kind := next(iter(step)))])):
                lines, cost = self._lines(step.get("run", ()), self), self.joined(step.get("cost", ""))
                yield Step(kind=kind, text=text, commands=tuple(lines), cost=cost or None)

    def _lines(self, raw: Any, values: Any) -> Iterator[Line]:  # noqa: ANN401 -- parts of a template, and what has its words
        for node in [raw] if isinstance(raw, str | Mapping) else raw:
            if isinstance(node, str):
                fact = node[1:-1] if node == f"{{{node[1:-1]}}}" else ""
                yield from self[fact] if fact.isidentifier() else (_line(node, values),)
            elif "each" in node:
                for item in self[node["each"]][: node.get("most", 5)]:
                    yield from self._lines(node["run"], {node["as"]: item} if "as" in node else item)
            else:
                chosen = next((lines for condition, lines in node.items() if self._holds(condition)), ())
                yield from self._lines(chosen, values)


def _line(template: str, values: Any) -> Line:  # noqa: ANN401 -- facts, or one item of them
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    words = {name: values[name] if isinstance(values, Mapping) else getattr(values, name) for name in names}
    return remark(template[2:], **words) if template.startswith("# ") else command(template, **words)
