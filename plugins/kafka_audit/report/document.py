"""The report of an audit: everything that it found, as `model.report` has it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import UNSET, structs

from kafka_audit.checks import catalogue
from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.findings import LONGEST_EVIDENCE
from kafka_audit.model import quoting
from kafka_audit.model.finding import (
    CHANGES,
    Address,
    Change,
    Confidence,
    Evidence,
    Finding,
    Incident,
    Lifecycle,
    Resource,
    Status,
)
from kafka_audit.model.progress import ProgressRow, progress_kinds
from kafka_audit.model.report import (
    CodeGroup,
    Coverage,
    EarlierIncident,
    Report,
    ReportedCandidate,
    ReportedChange,
    ReportedFinding,
    ReportedIncident,
    ReportedResource,
    ReportedStep,
    StatusCounts,
    UnansweredRead,
)
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean
from kafka_audit.progress.rows import progress_of
from kafka_audit.report import remedies
from kafka_audit.report.continuity import Continuity, Unresolved
from kafka_audit.report.impacts import impacts
from kafka_audit.report.on_its_way import MOST
from kafka_audit.report.parties import matrix, quorum, reach, views
from kafka_audit.report.text import utc_text
from kafka_audit.report.what_if import next_failure
from kafka_audit.report.worsening import since_text, worse_since

MOST_CHANGES = 5000
"""Changes that are listed; a controller that moved every leader of a big cluster must not make the document unreadable."""

_FIRST = 10
"""Resources of a code in an incident that are named; all of them are among the findings."""


def build_report(  # noqa: PLR0913, PLR0917 -- the contract between report and audit
    view: ClusterView,
    previous_snapshot_id: str | None,
    findings: Sequence[Finding],
    incidents: Sequence[Incident],
    changes: Sequence[Change],
    previous_report: Report | None,
    *,
    show_all: bool = False,
    counts: bool = True,
    passed_over: Iterable[str] = (),
) -> Report:
    """Return the report.

    PASS is counted, and listed with `show_all`; what came of earlier failures always is. `counts`: it is one of the audits in a
    row that found an incident. `passed_over` says of each earlier snapshot that could not be compared with why.
    """
    snapshot = view.snapshot
    listed = [f for f in findings if show_all or f.status is not Status.PASS or f.lifecycle is Lifecycle.RESOLVED]
    by_fingerprint = {finding.fingerprint: finding for finding in findings}
    checks = catalogue()
    ended = _utc(view.info.finished_ms) if view.info else None
    places = {finding.fingerprint: (place, finding) for place, finding in enumerate(findings)}
    progress = progress_of(view).all
    cut = _cut_edges(findings)
    followers = _followers(incidents, by_fingerprint)
    continuity = Continuity(findings, incidents, previous_report)
    resolved, incomparable = _earlier_incidents(continuity, previous_report)
    statuses = Counter(finding.status for finding in findings)
    return Report(
        cluster=snapshot.cluster,
        cluster_id=clean(snapshot.cluster_id),
        snapshot_id=snapshot.snapshot_id,
        previous_snapshot_id=previous_snapshot_id,
        started_at=_utc(view.info.started_ms) if view.info else None,
        finished_at=ended,
        mode=view.info.mode if view.info else None,
        coverage=_coverage(view),
        counts=StatusCounts(**{status.value: statuses[status] for status in Status}),
        passed_checks=_passed(findings),
        lifecycle_counts=_lifecycle_counts(findings),
        incidents=tuple(
            structs.replace(
                reported_incident(incident),
                worse=worse_since(incident, by_fingerprint, continuity) or UNSET,
                groups=_finding_groups(incident, places, view),
                first_seen=since or (ended if incident.lifecycle is Lifecycle.NEW else None),
                not_yet_at=continuity.not_yet_at(incident),
                audits=audits + counts,
                evidence_for=tuple(_evidence_for(incident, continuity, ended)),
                impacts=impacts((by_fingerprint[name] for name in (*incident.findings, *incident.explains)), checks, view),
            )
            for incident in continuity.incidents
            for since, audits in (continuity.known_since(incident),)
        ),
        resolved_incidents=tuple(resolved),
        incomparable_incidents=tuple(incomparable),
        findings=tuple(reported_finding(finding) for finding in sorted(listed, key=worst_first)),
        changes=tuple(_change(change) for change in changes[:MOST_CHANGES]),
        changes_omitted=max(len(changes) - MOST_CHANGES, 0),
        never_asked=tuple(_never_asked(view)),
        passed_over=tuple(clean(why, LONGEST_EVIDENCE) for why in passed_over),
        next_failure=next_failure.build_next_failure(view),
        quorum=quorum.build_quorum(view),
        matrix=matrix.build_matrix(view),
        reach=reach.build_reach(view),
        views=views.build_views(view),
        progress=tuple(_progress(row, cut, followers) for row in progress[:MOST]),
        progress_omitted=max(len(progress) - MOST, 0),
    )


def _cut_edges(findings: Iterable[Finding]) -> Mapping[tuple[str, ...], str]:
    """Return the checks that measured that a broker does not reach another, by both."""
    return {
        (f"broker/{source}", f"broker/{finding.resource.broker}"): finding.code
        for finding in findings
        if finding.status is Status.FAIL and finding.confidence is Confidence.MEASURED and finding.resource.broker is not None
        for source in finding.numbers("from")
    }


def _followers(incidents: Iterable[Incident], findings: Mapping[str, Finding]) -> frozenset[tuple[str, str]]:
    """Return the checks and resources of findings that follow from incidents."""
    explained = (findings[name] for incident in incidents for name in incident.explains)
    return frozenset((finding.code, finding.resource.name) for finding in explained)


def _progress(row: ProgressRow, cut: Mapping[tuple[str, ...], str], followers: Collection[tuple[str, str]]) -> ProgressRow:
    """Return a row with what the cluster supplied escaped; a party's name is as it is, as those of resources are.

    A copy that does not move waits for the connection that a finding misses.
    """
    if row.state != "moving" and not row.waits_for and (code := cut.get(row.parties)):
        source, target = (party.replace("/", " ") for party in row.parties)
        row = structs.replace(row, waits_for=f"a connection from {source} to {target} ({code})")
    row = structs.replace(row, aside=row.aside or (progress_kinds()[row.kind].check, row.parties[0]) in followers)
    texts = ("what", "waits_for", "not_known")
    return structs.replace(row, **{name: clean(getattr(row, name), LONGEST_EVIDENCE) for name in texts})


def _utc(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _coverage(view: ClusterView) -> Coverage:
    reads = view.last_reads
    unanswered = (_unanswered(view, read) for read in reads if read.outcome != "answered")
    return Coverage(
        asked=len(reads),
        answered=sum(read.outcome == "answered" for read in reads),
        # Brokers are asked side by side: by their ids, the same failures have the same order in each report.
        unknown=tuple(sorted(unanswered, key=lambda read: -1 if read.broker is None else read.broker)),
    )


def _unanswered(view: ClusterView, read: SourceRead) -> UnansweredRead:
    return UnansweredRead(
        observer=read.observer,
        broker=Resource.of(view.reads.resources.get(read.observer, "cluster")).broker,
        operation=read.operation,
        target=clean(read.target, LONGEST_EVIDENCE),
        error=clean(read.why or "no answer", LONGEST_EVIDENCE),
        reason=read.failure.name,
        kind=clean(read.error or "no answer", LONGEST_EVIDENCE),
        needs=None if read.needs is None else clean(read.needs, LONGEST_EVIDENCE),
        untrusted_host=None if read.untrusted_host is None else clean(read.untrusted_host, LONGEST_EVIDENCE),
    )


def _passed(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return the codes of checks that pass wherever they apply; what could not be judged somewhere is not one of them."""
    results: dict[str, set[Status]] = {}
    for finding in findings:
        results.setdefault(finding.code, set()).add(finding.status)
    return tuple(sorted(code for code, found in results.items() if Status.PASS in found and found <= _NO_FAULT))


_NO_FAULT = {Status.PASS, Status.NOT_APPLICABLE}


def _lifecycle_counts(findings: Iterable[Finding]) -> dict[Lifecycle, int]:
    """Count failures by their place in time; what could not be judged and did not fail before has none."""
    count = Counter(
        f.lifecycle for f in findings if f.status is Status.FAIL or f.lifecycle in {Lifecycle.RESOLVED, Lifecycle.INCOMPARABLE}
    )
    return {lifecycle: count[lifecycle] for lifecycle in Lifecycle}


def worst_first(finding: Finding) -> tuple[Any, ...]:
    """Return the key by which findings are sorted."""
    order = (Status.FAIL, Status.UNKNOWN, Status.NOT_APPLICABLE, Status.PASS)
    return (order.index(finding.status), -finding.severity, finding.code, _natural(finding.resource.name))


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdecimal() and part.isascii() else (-1, part) for part in name.split("/"))


def reported_finding(finding: Finding) -> ReportedFinding:
    """Return a finding as in every report."""
    return ReportedFinding(
        code=finding.code,
        name=finding.name,
        status=finding.status,
        severity=finding.severity.word,
        confidence=finding.confidence,
        resource=ReportedResource(type=finding.resource.type, name=finding.resource.name),
        message=finding.message,
        evidence=finding.evidence,
        remediation=finding.remediation,
        remedy=remedies.reported_parts(finding.remedy),
        fingerprint=finding.fingerprint,
        lifecycle=finding.lifecycle,
        muted=finding.muted,
        last_known=finding.last_known or UNSET,
    )


def reported_incident(incident: Incident) -> ReportedIncident:
    """Return an incident as the report has it, without its groups and what became worse."""
    return ReportedIncident(
        headline=incident.headline,
        cause=incident.cause,
        severity=incident.severity.word,
        confidence=incident.confidence,
        confidence_why=incident.confidence_why,
        impact=incident.impact,
        lifecycle=incident.lifecycle,
        findings=incident.findings,
        explains=incident.explains,
        evidence_for=incident.evidence_for,
        evidence_against=incident.evidence_against,
        not_known=incident.not_known,
        candidates=tuple(
            ReportedCandidate(
                cause=candidate.cause,
                code=candidate.code,
                fault=candidate.fault,
                state=candidate.state,
                speaks_for=candidate.speaks_for,
                against=candidate.against,
                decided_by=candidate.decided_by,
            )
            for candidate in incident.candidates
        ),
        remediation=tuple(
            ReportedStep(
                kind=step.kind,
                text=quoting.plain_prose(step.text),
                commands=tuple(quoting.lines(step.commands)),
                cost=step.cost,
                lines=remedies.reported_parts(step.commands),
                parts=UNSET if isinstance(step.text, str) else remedies.reported_parts(step.text),
            )
            for step in incident.remediation
        ),
    )


def _change(change: Change) -> ReportedChange:
    return ReportedChange(
        kind=change.kind,
        resource=clean(change.resource, LONGEST_EVIDENCE),
        before=None if change.before is None else clean(change.before, LONGEST_EVIDENCE),
        after=None if change.after is None else clean(change.after, LONGEST_EVIDENCE),
        addresses_before=_addresses(change.addresses_before),
        addresses_after=_addresses(change.addresses_after),
    )


def _addresses(held: Iterable[Address]) -> tuple[Address, ...]:
    return tuple(Address(host=clean(at.host), port=at.port) for at in held)


def _evidence_for(incident: Incident, continuity: Continuity, now: str | None) -> Iterator[Evidence]:
    """Yield what speaks for an incident, and what changed before it: of one that goes on, what its first report said of that.

    What changed since the previous audit may be its repair. What that audit reported on its own says since when clients suffer.
    """
    yield from (one for one in incident.evidence_for if one.observer != CHANGES)
    continued = continuity.continued(incident)
    held = [one.evidence_for for one in continued if isinstance(one, ReportedIncident)] if continued else [incident.evidence_for]
    yield from (line for evidence in held for line in evidence if line.observer == CHANGES)
    for earlier in continuity.taken_in(incident):
        since = since_text(_earlier(earlier, continuity.previous))
        text = f"On its own until {utc_text(now) or 'this audit'}: {earlier.headline} ({earlier.cause}), {since}"
        yield Evidence(observer=CHANGES, text=clean(text, LONGEST_EVIDENCE))


def _earlier_incidents(continuity: Continuity, previous: Report | None) -> tuple[list[EarlierIncident], list[EarlierIncident]]:
    """Return what became of the previous report's incidents that none continues: their cause is over, or could not be judged.

    An incident that could not be judged is kept until it is, so that its end is reported.
    """
    resolved: list[EarlierIncident] = []
    incomparable: list[EarlierIncident] = []
    for incident, is_resolved in continuity.ended():
        (resolved if is_resolved else incomparable).append(_earlier(incident, previous))
    return resolved, incomparable


def _earlier(incident: Unresolved, previous: Report | None) -> EarlierIncident:
    return EarlierIncident(
        headline=incident.headline,
        cause=incident.cause,
        severity=incident.severity,
        findings=incident.findings,
        first_seen=incident.first_seen or (previous.finished_at if previous else None),
        audits=incident.audits,
    )


def _never_asked(view: ClusterView) -> Iterator[str]:
    info = view.info
    sources = {read.observer.partition(":")[0] for read in view.last_reads}
    if info is None or info.broker_vantages == 0:
        yield "Whether the brokers reach each other: the cluster file has no vantage with role broker."
    if info is None or info.client_vantages <= 1:
        yield "Whether clients on other hosts reach the brokers: the cluster file has no other vantage."
    if "properties" not in sources:
        yield "The content of the brokers' server.properties: the cluster file sets no `properties`."
    if "logs" not in sources:
        yield "The content of the brokers' logs: the cluster file sets no `logs`."
    connects = (view.settings.get(broker, "zookeeper.connect").value for broker in view.named_brokers)
    uses = next(filter(None, connects), None) if view.kraft else None
    if uses is not None:
        yield f"What ZooKeeper has: brokers use it at {clean(uses)}, and the cluster file sets no `zookeeper`."
    elif view.kraft and not any(read.observer.startswith("controller@") for read in view.last_reads):
        yield "The views of the KRaft controllers: the cluster file sets no `controllers`."
    yield "Whether records can be produced and consumed: by design, this audit only reads."
    if info is not None:
        yield f"Anything after {datetime.fromtimestamp(info.finished_ms / 1000, UTC).strftime('%d %b %Y %H:%M UTC').lstrip('0')}."


def _finding_groups(incident: Incident, findings: Mapping[str, tuple[int, Finding]], view: ClusterView) -> tuple[CodeGroup, ...]:
    """Return an incident's findings by code, its cause first: how many, at which brokers how many each, and the first names.

    `findings` are those of the audit by fingerprint, each with its place.
    A partition counts at every broker that it waits for; where it waits for none, at its leader.
    """
    own = {findings[name][0]: findings[name][1] for name in (*incident.findings, *incident.explains) if name in findings}
    by_code: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for _, finding in sorted(own.items(), key=lambda entry: entry[0]):
        by_code[finding.code, finding.name].append(finding)
    ordered = sorted(by_code.items(), key=lambda item: (item[0][0] != incident.cause, item[0]))
    return tuple(
        CodeGroup(
            code=code,
            name=name,
            findings=len(group),
            brokers={str(broker): number for broker, number in sorted(_by_broker(group, view).items())},
            first=tuple(finding.resource.name for finding in group[:_FIRST]),
        )
        for (code, name), group in ordered
    )


def _by_broker(group: Iterable[Finding], view: ClusterView) -> Counter[int]:
    return Counter(broker for finding in group for broker in _waited_for(finding.resource, view))


def _waited_for(resource: Resource, view: ClusterView) -> Iterable[int]:
    if resource.broker is not None:
        return (resource.broker,)
    partition = resource.topic_partition
    state = view.partitions.state(*partition) if partition else None
    if partition is None or state is None:
        return ()
    return held_up_by(view, *partition) or (() if state.leader is None else (state.leader,))
