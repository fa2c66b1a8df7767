"""The story of a case: the texts under `story` in the file of a check, filled with facts.

A story has these parts; each but `headline` may be missing.

| part | what it is |
|---|---|
| `with` | texts that the other parts name as facts |
| `headline` | one or several, the longest first: the first that fits is taken |
| `impact`, `why` | a text, or several that are joined |
| `not_known` | texts |
| `changes` | kinds of changes since the previous snapshot that are evidence as well |
| `steps` | `see`, `quick`, `lasting` or `do_not` with a text, `run`, `cost` and `when`; `prove`; a fact that is steps |

A text is a template of `words/sentences.py`. What it writes is a text for each line; an empty one is left out, so that `{% if %}`
chooses texts, and `{% for %}` yields several. `when` is a condition of the same language.

`run` lists templates of commands (`# …` is a comment), `{lines}`, which is a fact that holds commands, and mappings: with `run`
and `when`, or with `run` and `each: endpoints`, once for each item, whose attributes its template names, or which is
`as: endpoint`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from types import MappingProxyType
from typing import Any

from kafka_audit.checks import catalogue
from kafka_audit.checks.candidates import candidates_of
from kafka_audit.checks.incident import Case, StoryFacts, changed_before, evidence_of
from kafka_audit.checks.repair import connect_commands, prove, zookeeper_address
from kafka_audit.incidents.remedies import why_it_matters
from kafka_audit.model.commands import Line, command, remark
from kafka_audit.model.finding import HEDGE, CauseCandidate, Confidence, Evidence, Step
from kafka_audit.model.text import brokers, clean, counted, fitting, listing, start_upper
from kafka_audit.words.sentences import NamedList, Written, fill, holds

_LONGEST = 2000  # characters of a fact


@dataclass(frozen=True, kw_only=True)
class Story:
    """A case in words: everything of an incident that is not counted."""

    headline: str
    impact: str
    confidence: Confidence
    why: str  # one sentence on the confidence
    speaks_for: tuple[Evidence, ...]
    against: tuple[Evidence, ...] = ()
    not_known: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    cause: str | None = None  # where it is not the rule's own: a symptom without a cause
    candidates: tuple[CauseCandidate, ...] = ()


def declared_story(case: Case, template: Mapping[str, Any], said: StoryFacts) -> Story:
    """Return the story of a case by a template; the evidence of its first finding are facts as well."""
    sure = said.confidence or case.confidence()
    candidates = candidates_of(said.edges)
    texts = _Texts(case, sure, {**_in_words(case, candidates), **said.facts}, template.get("with", {}))
    return Story(
        headline=fitting(texts.lines(template["headline"])),
        impact=texts.joined(template.get("impact", "")),
        confidence=sure,
        why=texts.joined(template.get("why", "")),
        speaks_for=(
            *(evidence_of(case.roots) if said.evidence is None else said.evidence),
            *said.also,
            *changed_before(case, template.get("changes", ())),
        ),
        against=tuple(said.against),
        not_known=(*texts.lines(template.get("not_known", ())), *said.not_known),
        steps=tuple(texts.steps(case, template.get("steps", ()))),
        cause=said.cause,
        candidates=candidates,
    )


def _in_words(case: Case, candidates: Sequence[CauseCandidate]) -> dict[str, object]:
    """Return the words of the candidates that are left, and what the one that the first finding names says is wrong."""
    left = [one for one in candidates if one.state in {"measured", "possible"}] or [*candidates]
    named = sorted(left, key=lambda one: one.cause != case.roots[0].text("cause"))
    return {"words": listing(one.word for one in left), "fault": named[0].fault} if left else {}


class _Texts:
    """The parts of a story, filled with its facts: as they are for commands, as a sentence shows them for texts."""

    def __init__(self, case: Case, confidence: Confidence, facts: Mapping[str, object], named: Mapping[str, Any]) -> None:
        view = case.view
        self.facts: dict[str, Any] = {
            **(case.roots[0].evidence if case.roots else {}),
            "brokers": case.brokers,
            "cluster": view.snapshot.cluster,
            "connect": connect_commands(case.endpoints, 5),
            "controller": view.controller,
            "has_controller": view.controller is not None,
            "empty": tuple(broker for broker in case.brokers if broker in case.empty),
            "endpoints": case.endpoints,
            "hedge": HEDGE[confidence],
            "kraft": view.kraft,
            "number": len(case.brokers),
            "plain": _headline(case) if case.roots else "",
            "remedy": _remedy(case),
            "roots": len(case.roots),
            "zookeeper": zookeeper_address(view),
            "zookeeper_read": view.zookeeper_read,
            **{sure.value: sure is confidence for sure in Confidence},
            **facts,
        }
        self._shown = {name: _shown(fact) for name, fact in self.facts.items()}
        for name, text in named.items():
            self.facts[name] = self._shown[name] = Written(self.joined(text))

    def lines(self, part: str | Sequence[str]) -> list[str]:
        """Return the texts that a part of a template has for these facts."""
        written = [fill(template, self._shown) for template in ([part] if isinstance(part, str) else part)]
        return [line.rstrip() for text in written for line in text.split("\n") if line.strip()]

    def joined(self, part: str | Sequence[str]) -> str:
        """Return the same as one text."""
        return " ".join(self.lines(part))

    def steps(self, case: Case, raw: Iterable[Any]) -> Iterator[Step]:
        """Yield the steps of a template."""
        for step in raw:
            if step == "prove":
                yield prove(case)
            elif isinstance(step, str):
                yield from self.facts[step]
            elif self._applies(step) and (text := self.joined(step[(kind := next(iter(step)))])):
                lines, cost = self._commands(step.get("run", ()), self.facts), self.joined(step.get("cost", ""))
                yield Step(kind=kind, text=text, commands=tuple(lines), cost=cost or None)

    def _applies(self, part: Mapping[str, Any]) -> bool:
        return "when" not in part or holds(part["when"], self._shown)

    def _commands(self, raw: Any, values: Any) -> Iterator[Line]:  # noqa: ANN401 -- parts of a template, and what has its words
        for node in [raw] if isinstance(raw, str | Mapping) else raw:
            if isinstance(node, str):
                fact = node[1:-1] if node == f"{{{node[1:-1]}}}" else ""
                yield from self.facts[fact] if fact.isidentifier() else (_line(node, values),)
            elif "each" in node:
                for item in self.facts[node["each"]][: node.get("most", 5)]:
                    yield from self._commands(node["run"], {**self.facts, node["as"]: item} if "as" in node else item)
            elif self._applies(node):
                yield from self._commands(node["run"], values)


def _shown(fact: object) -> object:
    """Return a fact as texts have it: bounded and clean; numbers in a list are ids of brokers."""
    if isinstance(fact, tuple | list):
        return NamedList(fact)
    return Written(clean(fact, _LONGEST)) if isinstance(fact, str) and not isinstance(fact, Written) else fact


def _line(template: str, values: Any) -> Line:  # noqa: ANN401 -- facts, or one item of them
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    words = {name: values[name] if isinstance(values, Mapping) else getattr(values, name) for name in names}
    return remark(template[2:], **words) if template.startswith("# ") else command(template, **words)


_CHANGES = ("endpoint", "config", "version")
_KINDS = MappingProxyType({"logdir": "log dir", "config": "setting"})


def grouped_story(case: Case) -> Story:
    """Return the story of findings of one code without a cause, as one incident: the first one, and where else it holds."""
    first = case.roots[0]
    return Story(
        headline=_headline(case),
        impact=why_it_matters(catalogue().get(first.code)),
        confidence=case.confidence(),
        why=f"{first.code} compares this directly; no further cause was examined.",
        speaks_for=(*evidence_of(case.roots), *changed_before(case, _CHANGES)),
        steps=(*_remedy(case), prove(case)),
    )


def _remedy(case: Case) -> tuple[Step, ...]:
    """Return what the page of the first finding says to do; nothing for a fact of no finding."""
    return tuple(Step(kind="quick", text=root.remedy) for root in case.roots[:1] if root.remedy)


def _headline(case: Case) -> str:
    """Return what the first finding says, in as many words as fit, and where else it holds."""
    first, elsewhere = case.roots[0], _elsewhere(case)
    texts = (*(first.headlines or (first.message,)), start_upper(first.name.replace("_", " ")))
    return fitting([f"{text}{elsewhere}" for text in texts])


def _elsewhere(case: Case) -> str:
    first, *others = case.roots
    if not {root.message for root in others} - {first.message}:
        return ""  # alone, or all say the same of the same brokers
    if len(case.brokers) == len(case.roots):
        return f" (same for {brokers(broker for broker in case.brokers if broker != first.resource.broker)})"
    kinds = {_KINDS.get(root.resource.type, root.resource.type) for root in case.roots}
    kind = kinds.pop() if len(kinds) == 1 else "resource"
    return f" (same for {counted(len(others), f'more {kind}')})"
