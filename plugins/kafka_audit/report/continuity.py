"""Which incidents of the previous report go on: a fault is its cause and its place, and not each of its symptoms."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec import UNSET

from kafka_audit.incidents.causes import CAUSES
from kafka_audit.incidents.findings import is_over
from kafka_audit.model.finding import Finding, Incident, Lifecycle, Resource, Status
from kafka_audit.model.report import EarlierIncident, Report, ReportedIncident
from kafka_audit.model.text import LONGEST_HEADLINE, our_line

Unresolved = ReportedIncident | EarlierIncident
_Key = tuple[str, str]  # code, resource name


class JudgedBefore:
    """What the previous report says of each resource."""

    def __init__(self, report: Report | None) -> None:
        """Read its findings; without a report nothing was judged."""
        self.findings = {raw.fingerprint: raw for raw in (report.findings if report else ())}
        self.names = {name: (raw.code, raw.resource.name) for name, raw in self.findings.items()}
        self._unknown: dict[str, list[Resource]] = {}
        for raw in self.findings.values():
            if raw.status is Status.UNKNOWN:
                self._unknown.setdefault(raw.code, []).append(Resource.of(raw.resource.name))
        passed = UNSET if report is None else report.passed_checks
        self._codes = None if passed is UNSET else {*passed, *(raw.code for raw in self.findings.values())}

    def judged(self, code: str, resource: Resource) -> bool:
        """Return whether a check had a result there; a report of an older version does not say which had."""
        known = self._codes is None or code in self._codes
        return known and not any(one.concerns(resource) for one in self._unknown.get(code, ()))


class Continuity:
    """The incidents of one audit, and those of the report before that they continue."""

    def __init__(self, findings: Iterable[Finding], incidents: Iterable[Incident], previous: Report | None) -> None:
        """Compare them; without a previous report each is new."""
        self._findings = {finding.fingerprint: finding for finding in findings}
        self._now = {(finding.code, finding.resource.name): finding for finding in self._findings.values()}
        self.previous, self.before = previous, JudgedBefore(previous)
        self.unresolved = () if previous is None else previous.unresolved
        self.incidents = tuple(self._dated(incident) for incident in incidents)
        self._kept = {id(earlier) for incident in self.incidents for earlier in self.continued(incident)}

    def continued(self, incident: Incident) -> Sequence[Unresolved]:
        """Return the earlier incidents that an incident continues."""
        own = self._keys(incident.findings)
        return [earlier for earlier in self.unresolved if self._is_same(incident.cause, own, earlier)]

    def known_since(self, incident: Incident) -> tuple[str | None, int]:
        """Return when the first audit that found an incident ended, and how many found it before; None and 0: none did.

        A report of a version that did not say since when says at least that it was there then. A symptom that outlives its cause
        is as old as the incident that it was part of, as far as is known.
        """
        continued, then = self.continued(incident), None if self.previous is None else self.previous.finished_at
        if not continued and incident.lifecycle is not Lifecycle.NEW:
            core = causing(incident.cause, self._keys(incident.findings))
            continued = [earlier for earlier in self.unresolved if core & self._members(earlier)]
        ends = (one.first_seen or then for one in continued)
        return min(filter(None, ends), default=None), max((one.audits for one in continued), default=0)

    def not_yet_at(self, incident: Incident) -> str | None:
        """Return when the previous audit ended, where it judged the cause of an incident and found nothing of the incident."""
        own = self._keys((*incident.findings, *incident.explains))
        judged = all(self.before.judged(code, Resource.of(name)) for code, name in causing(incident.cause, own))
        is_new = all(self._now[key].lifecycle is Lifecycle.NEW for key in own)
        return self.previous.finished_at if judged and is_new and self.previous is not None else None

    def taken_in(self, incident: Incident) -> Iterable[Unresolved]:
        """Yield the earlier incidents whose cause fails still and follows from another one's now."""
        own = self._keys((*incident.findings, *incident.explains))
        for earlier in self.unresolved:
            if id(earlier) not in self._kept and own & causing(earlier.cause, self._members(earlier)):
                yield earlier

    def ended(self) -> Iterable[tuple[Unresolved, bool]]:
        """Yield the earlier incidents that none continues and whose cause does not fail; and whether it was judged.

        Of one that goes on at some nodes, each of its other ones is yielded that is over.
        """
        for earlier in self.unresolved:
            cause = causing(earlier.cause, self._members(earlier))
            if id(earlier) in self._kept:
                yield from ((part, True) for part in self._nodes_ended(earlier, cause))
                continue
            # What shows the same fault may fail for another reason: then it is a symptom of that.
            keys = {key for key in cause if key[0] == earlier.cause} or cause
            became = [self._now.get(key) for key in keys]
            if not any(f is not None and f.status is Status.FAIL for f in became):
                yield earlier, bool(became) and all(f is None or is_over(f) for f in became)

    def _nodes_ended(self, earlier: Unresolved, cause: set[_Key]) -> Iterable[EarlierIncident]:
        """Yield what is over of an incident at several brokers or controllers, each as the finding said it."""
        named = {
            key: name for name in earlier.findings if (key := self.before.names.get(name)) in cause and key[0] == earlier.cause
        }
        nodes = {key: Resource.of(key[1]) for key in named}
        by_node = {node.root: key for key, node in sorted(nodes.items()) if node.is_of_broker or node.controller is not None}
        for key in by_node.values() if len(by_node) > 1 else ():
            own = [self._now.get(other) for other, node in nodes.items() if node.root == nodes[key].root]
            if all(finding is not None and is_over(finding) for finding in own):
                raw = self.before.findings[named[key]]
                yield EarlierIncident(
                    headline=our_line(raw.message, LONGEST_HEADLINE),
                    cause=earlier.cause,
                    severity=earlier.severity,
                    findings=(named[key],),
                    first_seen=earlier.first_seen,
                    audits=earlier.audits,
                )

    def _is_same(self, cause: str, own: set[_Key], earlier: Unresolved) -> bool:
        members = self._members(earlier)
        core, before = causing(cause, own), causing(earlier.cause, members)
        if not own & members:
            return False
        if earlier.cause in family(cause):
            return not fault_places(core).isdisjoint(fault_places(before))
        if core & members:  # a symptom that outlives its cause is another fault
            return any((f := self._now.get(key)) is not None and not is_over(f) for key in before)
        return bool(before & own) and not all(self.before.judged(code, Resource.of(name)) for code, name in core)

    def _members(self, earlier: Unresolved) -> set[_Key]:
        return {key for name in earlier.findings if (key := self.before.names.get(name)) is not None}

    def _dated(self, incident: Incident) -> Incident:
        """Return an incident as new whose cause is: a symptom of it may be older."""
        core = causing(incident.cause, self._keys(incident.findings))
        is_new = all(self._now[key].lifecycle is Lifecycle.NEW for key in core) and not self.continued(incident)
        return replace(incident, lifecycle=Lifecycle.NEW) if is_new else incident

    def _keys(self, names: Iterable[str]) -> set[_Key]:
        return {(self._findings[name].code, self._findings[name].resource.name) for name in names}


def family(cause: str) -> frozenset[str]:
    """Return the checks that show the same fault as another one."""
    return frozenset({cause}.union(*(known.codes for known in CAUSES if cause in known.codes)))


def causing(cause: str, members: set[_Key]) -> set[_Key]:
    """Return the findings of an incident that are of its cause; all, where no check found the cause itself."""
    codes = family(cause)
    return {key for key in members if key[0] in codes} or members


def fault_places(keys: Iterable[_Key]) -> set[str]:
    """Return brokers, topics or other parties that findings are about."""
    return {Resource.of(name).root for _, name in keys}
