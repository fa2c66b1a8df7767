"""Join findings to incidents: one cause, one headline.

`CAUSES` is read from its first to its last. A cause takes the findings of its codes that nothing before it explained, splits them
into faults, and takes the symptoms of each fault with it. The remaining findings report their symptom, by code.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kafka_audit.checks import catalogue
from kafka_audit.checks.incident import Case, at_the_broker, at_the_endpoint
from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.declared_causes import Cause, causes_in_order, declared_causes
from kafka_audit.incidents.stories import Story, grouped_story
from kafka_audit.incidents.tools import Tools
from kafka_audit.model.finding import Change, Evidence, Finding, Incident, Lifecycle, Severity, Status, Step
from kafka_audit.model.text import clean, start_upper

CAUSES = causes_in_order(declared_causes())
"""All causes, in the order in which they may claim findings."""

_STOPPED = 3


def incidents(view: ClusterView, findings: Sequence[Finding], changes: Sequence[Change]) -> tuple[Incident, ...]:
    """Return the incidents of an audit, worst first.

    Of equal severity what fails now is before what only fails later, and what stops the whole cluster, in which the steps of
    others may fail as well, before what stops a part of it.

    Every unmuted FAIL of HIGH and above is in exactly one of them.

    A muted finding may still be the cause that explains others; it is in no incident itself. A lower finding makes no incident,
    and is inside the one that explains it.
    """
    tools = Tools.of(view)
    stories = _stories(view, findings, changes)
    found = [(_incident(case, story, cause, tools), (_fails_later(case), not _stops_all(case))) for case, story, cause in stories]
    order = sorted(found, key=lambda one: (-one[0].severity, *one[1], -len(one[0].findings), one[0].headline))
    return tuple(incident for incident, _ in order if incident.findings)


def _fails_later(case: Case) -> bool:
    """Return whether nothing of a case fails now: only a restart or a loss would."""
    checks = catalogue()
    return all(one.code in checks and "later" in checks[one.code].stops for one in case.explained)


def _stops_all(case: Case) -> bool:
    """Return whether its cause stops what the whole cluster does."""
    checks = catalogue()
    known = [root for root in case.roots if root.code in checks]
    return any(root.evidence.get("whole_cluster") or "cluster" in checks[root.code].stops for root in known)


def _stories(view: ClusterView, findings: Sequence[Finding], changes: Sequence[Change]) -> Iterator[tuple[Case, Story, str]]:
    left = _Left(findings)
    whole = Case(view=view, changes=changes, findings=findings, roots=())
    for cause in CAUSES:
        start = replace(whole, roots=left.roots(cause.codes))
        for fault in cause.cases(start) if start.roots else ():
            explained, besides = left.take((*fault.roots, *left.symptoms(fault, cause)))
            case = replace(fault, explained=explained, besides=besides)
            yield case, cause.story(case), fault.roots[0].code
    by_code: dict[str, list[Finding]] = defaultdict(list)
    for finding in left.high:
        if not finding.muted:
            by_code[finding.code].append(finding)
    for code, roots in by_code.items():
        case = replace(whole, roots=tuple(roots), explained=tuple(roots))
        yield case, grouped_story(case), code


class _Left:
    """Failures that no incident has taken, found by code and place: one fault of many looks at its own alone."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        """Take the failures of HIGH and above, and the lower ones that are not muted."""
        failed = [finding for finding in findings if finding.status is Status.FAIL]
        self._high = {finding.fingerprint: finding for finding in failed if finding.severity >= Severity.HIGH}
        lower = (finding for finding in failed if finding.severity < Severity.HIGH and not finding.muted)
        self._left = {**self._high, **{finding.fingerprint: finding for finding in lower}}
        self._places = {fingerprint: place for place, fingerprint in enumerate(self._left)}
        self._found: dict[tuple[str, object], list[Finding]] = defaultdict(list)
        for finding in self._left.values():
            for place in dict.fromkeys((None, finding.resource.name, finding.resource.broker)):
                self._found[finding.code, place].append(finding)

    @property
    def high(self) -> Iterable[Finding]:
        """Those of HIGH and above that are left, in order."""
        return self._high.values()

    def roots(self, codes: Collection[str]) -> tuple[Finding, ...]:
        """Return those of HIGH and above of these codes."""
        return tuple(finding for finding in self.high if finding.code in codes)

    def symptoms(self, fault: Case, cause: Cause) -> Iterator[Finding]:
        """Yield what a fault explains."""
        for explains in cause.explains:
            places: Iterable[object] = (None,)
            if explains.where is at_the_endpoint:
                places = dict.fromkeys(root.resource.name for root in fault.roots)
            elif explains.where is at_the_broker:
                places = fault.brokers
            for place in places:
                for code in explains.codes:
                    for finding in self._found.get((code, place), ()):
                        if finding.fingerprint in self._left and explains.where(fault, finding):
                            yield finding

    def take(self, findings: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Take these, and return those of HIGH and above and the lower ones, each in order."""
        taken = {finding.fingerprint for finding in findings if finding.fingerprint in self._left}
        ordered = [self._left.pop(fingerprint) for fingerprint in sorted(taken, key=self._places.__getitem__)]
        high = tuple(finding for finding in ordered if self._high.pop(finding.fingerprint, None) is not None)
        return high, tuple(finding for finding in ordered if finding.severity < Severity.HIGH)


def _incident(case: Case, story: Story, cause: str, tools: Tools) -> Incident:
    unmuted = [finding for finding in case.explained if not finding.muted]
    states = {finding.lifecycle for finding in unmuted}
    return Incident(
        headline=story.headline,
        cause=story.cause or cause,
        severity=max((finding.severity for finding in unmuted), default=Severity.INFO),
        confidence=story.confidence,
        findings=tuple(finding.fingerprint for finding in unmuted),
        evidence_for=_distinct(story.speaks_for),
        evidence_against=_distinct(story.against),
        not_known=story.not_known,
        remediation=tuple(_written(step, tools) for step in story.steps),
        lifecycle=Lifecycle.ONGOING if Lifecycle.ONGOING in states else Lifecycle.NEW,
        impact=" ".join((story.impact, *_stopped(case))).strip(),
        confidence_why=f"{story.why} {_raised(case, unmuted)}".strip(),
        candidates=story.candidates,
        explains=tuple(finding.fingerprint for finding in case.besides),
    )


def _stopped(case: Case) -> Iterator[str]:
    """Yield which groups and producers stop, whatever topics they use: partitions of Kafka's own topics have no leader."""
    own = [finding for finding in case.explained if finding.code == "KA601" and finding.number("partitions")]
    by_topic = groupby(sorted(own, key=lambda finding: finding.resource.topic or ""), key=lambda finding: finding.resource.topic)
    for found in (list(group) for _, group in by_topic):
        held = coordinated_by(case.view, *(found[0].resource.topic_partition or ("", 0)))
        if held is not None and len(found) >= held.partitions:
            yield f"No {held.each} can {held.what}."
            continue
        for finding in found[:_STOPPED]:
            yield start_upper(f"{finding.text('who')} cannot {finding.text('what')}.")
        if len(found) > _STOPPED:
            yield f"The same holds for {len(found) - _STOPPED} more partitions of {clean(found[0].resource.topic or '')}."


def _raised(case: Case, findings: Sequence[Finding]) -> str:
    """Return what makes an incident severer than the findings of its cause; "" where nothing does."""
    own = max((root.severity for root in case.roots), default=Severity.INFO)
    worst = max(findings, key=lambda finding: finding.severity, default=None)
    if worst is None or worst.severity <= own or worst.code == case.roots[0].code:
        return ""
    name = worst.name.replace("_", " ")
    return f"{worst.severity.name} because of {worst.code} ({name})."


def _written(step: Step, tools: Tools) -> Step:
    text = step.text if isinstance(step.text, str) else tools.prose(step.text)
    return replace(step, text=text, commands=tuple(map(tools.line, step.commands)))


def _distinct(lines: Iterable[Evidence]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(lines))
