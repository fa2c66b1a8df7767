"""From judgements to findings: words, severity, mutes, and their place against the previous snapshot's report."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from kafka_audit.checks import Check, catalogue
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.inputs import failed_inputs
from kafka_audit.incidents.remedies import remedy
from kafka_audit.incidents.tools import Tools
from kafka_audit.model.cluster import Mute
from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Confidence, Finding, Judgement, Lifecycle, Resource, Severity, Status, bounded, fingerprint
from kafka_audit.model.report import Report, ReportedFinding
from kafka_audit.model.tables import Snapshot
from kafka_audit.model.text import clean
from kafka_audit.words.sentences import message

LONGEST_EVIDENCE = 2000
"""Characters of one evidence value that are kept; the whole of it is in the snapshot's tables."""


@dataclass(frozen=True, kw_only=True)
class _Prior:
    """What the previous report said of one resource and check."""

    status: Status
    severity: Severity
    confidence: Confidence
    last_known: str  # its message when it was judged last
    open: bool  # failed, or had failed before and could not be judged since
    named: tuple[str, ...]  # the brokers of which it is one finding: `checks.alike_brokers`


_Key = tuple[str, str]  # code, resource name: unlike the fingerprint, it does not depend on an unknown cluster id


def findings_with_lifecycle(  # noqa: PLR0913 -- the contract between judging and reporting
    view: ClusterView,
    judgements: Iterable[Judgement],
    *,
    mutes: Sequence[Mute],
    previous_report: Report | None,
    today: date,
    checks: Mapping[str, Check] | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of one snapshot, and one for each earlier failure that is resolved or can no longer be judged.

    `previous_report` is the `findings.json` of the previous snapshot, or of the newest before it that was judged; without it
    every finding is new. `checks` defaults to the whole catalogue. Raises EngineError when a judgement has no check, or when the
    report is on a later snapshot than the previous one, or on another cluster.
    """
    snapshot, previous = view.snapshot, view.previous
    if previous is not None and previous_report is not None and not _may_stand(previous_report, previous):
        msg = f"report of {previous_report.snapshot_id} does not belong to snapshot {previous.snapshot_id}"
        raise EngineError(msg)
    checks = catalogue() if checks is None else checks
    own_judgements = [judgement for judgement in judgements if judgement.snapshot_id == snapshot.snapshot_id]
    prior = _prior(previous_report)
    reported = _one_each(_in_words(snapshot, judgement, checks) for judgement in own_judgements)
    regrouped = _regrouped(prior, reported)
    dated = [_dated(finding, regrouped.get((finding.code, finding.resource.name))) for finding in reported]
    dated.extend(_gone(view, dated, regrouped, checks))
    ended = _inferences_ended(dated, prior, previous_report)
    tools = Tools.of(view)
    written = (replace(finding, remedy=tools.prose(finding.remedy)) for finding in ended)
    return tuple(_muted(finding, mutes, today) for finding in written)


def _may_stand(report: Report, previous: Snapshot) -> bool:
    named = report.snapshot_id
    same = report.cluster_id == previous.cluster_id or previous.cluster_id.startswith(Snapshot.UNKNOWN_ID)
    return named == previous.snapshot_id or (named < previous.snapshot_id and same)  # ids begin with the time


def _prior(report: Report | None) -> dict[_Key, _Prior]:
    return {
        (raw.code, raw.resource.name): _Prior(
            status=raw.status,
            severity=Severity[raw.severity],
            confidence=raw.confidence,
            last_known=raw.last_known or raw.message,
            open=raw.status is Status.FAIL or raw.lifecycle is Lifecycle.INCOMPARABLE,
            named=_named(raw),
        )
        for raw in (report.findings if report else ())
    }


def _named(finding: Finding | ReportedFinding) -> tuple[str, ...]:
    ids = finding.evidence.get("brokers") if finding.resource.name == "cluster" else None
    return tuple(f"broker/{broker}" for broker in ids) if isinstance(ids, Sequence) and not isinstance(ids, str) else ()


def _regrouped(prior: Mapping[_Key, _Prior], reported: Iterable[Finding]) -> dict[_Key, _Prior]:
    """Return what was said before, by the resources of now: which brokers are alike changes with what was read.

    What was said of several brokers at once was said of each that still fails or is not known, and the other way round; but a
    group with a broker that passed is new.
    """
    found = dict(prior)
    own: dict[_Key, _Key] = {}  # by broker, what was said of it or of a part of it
    for code, name in prior:
        own.setdefault((code, Resource.of(name).root), (code, name))
    reported = [finding for finding in reported if finding.status in {Status.FAIL, Status.UNKNOWN}]
    grouped = {finding.code for finding in reported if finding.resource.name == "cluster"}
    for finding in reported:
        key, cluster = (finding.code, finding.resource.name), (finding.code, "cluster")
        members = [own.get((finding.code, name), (finding.code, name)) for name in _named(finding)]
        together = prior.get(cluster)
        if members:
            before = [prior.get(member) for member in members]
            failed = [one for one in before if one is not None and one.open]
            if together is None and failed and all(one is not None and one.status is not Status.PASS for one in before):
                found[key] = failed[0]
            for member in members:
                found.pop(member, None)
        elif together is not None and together.open and finding.resource.root in together.named and key not in prior:
            if finding.code not in grouped:
                found.pop(cluster, None)
            found[key] = together
    return found


def _one_each(findings: Iterable[Finding]) -> list[Finding]:
    """Keep the worst of several results for one resource: a fingerprint is unique in a report."""
    order = (Status.NOT_APPLICABLE, Status.PASS, Status.UNKNOWN, Status.FAIL)
    kept: dict[_Key, Finding] = {}
    for finding in findings:
        key = (finding.code, finding.resource.name)
        other = kept.get(key)
        if other is None or (order.index(finding.status), finding.severity) > (order.index(other.status), other.severity):
            kept[key] = finding
    return list(kept.values())


def _in_words(snapshot: Snapshot, judgement: Judgement, checks: Mapping[str, Check]) -> Finding:
    check = checks.get(judgement.code)
    if check is None:
        msg = f"{judgement.code} was judged, but no check of this version has that code"
        raise EngineError(msg)
    template = check.says.get(judgement.status, f"{check.name.replace('_', ' ')}: {judgement.status.value}")
    written = message(template, judgement.evidence)
    return Finding(
        code=judgement.code,
        name=check.name,
        status=judgement.status,
        severity=check.severity if judgement.severity is None else judgement.severity,
        confidence=judgement.confidence,
        resource=_bounded(judgement.resource),
        message=written.text,
        headlines=written.headlines if judgement.status is Status.FAIL else (),
        evidence=bounded(judgement.evidence, LONGEST_EVIDENCE),
        remedy=remedy(check, judgement.status, judgement.evidence),
        fingerprint=fingerprint(judgement.code, snapshot.cluster_id, judgement.resource),
    )


def _bounded(name: str) -> Resource:
    """Return a resource whose name is no longer than evidence; a znode name of a topic can have a million characters."""
    whole = Resource.of(name)
    if len(name) <= LONGEST_EVIDENCE:
        return whole
    return replace(whole, name=f"{name[:LONGEST_EVIDENCE]}… ({hashlib.sha256(name.encode()).hexdigest()[:8]})")


def _dated(finding: Finding, before: _Prior | None) -> Finding:
    """Set the lifecycle: what could not be judged is never resolved."""
    if before is None:
        return finding
    if not before.open:
        return replace(finding, lifecycle=Lifecycle.ONGOING if finding.status is before.status else Lifecycle.NEW)
    match finding.status:
        case Status.FAIL:
            return replace(finding, lifecycle=Lifecycle.ONGOING)
        case Status.UNKNOWN:
            return replace(finding, lifecycle=Lifecycle.INCOMPARABLE, confidence=before.confidence, last_known=before.last_known)
        case _:
            return replace(finding, lifecycle=Lifecycle.RESOLVED, severity=before.severity)  # of what ended


def _gone(
    view: ClusterView, findings: Sequence[Finding], prior: Mapping[_Key, _Prior], checks: Mapping[str, Check]
) -> Iterator[Finding]:
    """Return the lifecycle of earlier failures without a current row."""
    now = defaultdict(list)
    for finding in findings:
        now[finding.code].append(finding)
    spoken_of = {(finding.code, finding.resource.name) for finding in findings}
    for (code, resource), before in prior.items():
        if not before.open or (code, resource) in spoken_of:
            continue
        why = _why_not_judged(view, resource, now[code], checks.get(code))
        text = f"{f'Now unknown: {why}' if why else 'Resolved'}. Before: {before.last_known}"
        yield Finding(
            code=code,
            name=checks[code].name if code in checks else "unknown_check",
            status=Status.UNKNOWN if why else Status.NOT_APPLICABLE,
            severity=before.severity,
            confidence=before.confidence,
            resource=Resource.of(resource),
            message=text,
            headlines=(text,),
            evidence={},
            remedy=(),
            fingerprint=fingerprint(code, view.cluster_id, resource),
            lifecycle=Lifecycle.INCOMPARABLE if why else Lifecycle.RESOLVED,
            last_known=before.last_known if why else "",
        )


def _inferences_ended(findings: Sequence[Finding], prior: Mapping[_Key, _Prior], report: Report | None) -> Iterator[Finding]:
    """Resolve what was inferred, never measured, once everything that it was inferred from is over.

    KA302 without a vantage on the brokers' hosts is an example: nothing can measure its end either, and the views that spoke for
    it are whole again. What was measured ends by a measurement only.
    """
    names = {raw.fingerprint: (raw.code, raw.resource.name) for raw in (report.findings if report else ())}
    now = {(finding.code, finding.resource.name): finding for finding in findings}
    over: set[_Key] = set()
    for incident in report.unresolved if report else ():
        members = [names[fingerprint] for fingerprint in incident.findings if fingerprint in names]
        inferred = {key for key in members if prior[key].open and prior[key].confidence is not Confidence.MEASURED}
        signs = [now.get(key) for key in members if key not in inferred]
        if signs and all(sign is None or is_over(sign) for sign in signs):
            over |= inferred
    for finding in findings:
        if finding.lifecycle is Lifecycle.INCOMPARABLE and (finding.code, finding.resource.name) in over:
            message = f"Resolved: the failures that it was inferred from have ended. {finding.message}"
            yield replace(finding, lifecycle=Lifecycle.RESOLVED, message=message)
        else:
            yield finding


def is_over(finding: Finding) -> bool:
    """Return whether an earlier failure has ended, in this audit or one before."""
    return finding.lifecycle is Lifecycle.RESOLVED or finding.status is Status.PASS


def _why_not_judged(view: ClusterView, resource: str, now: Sequence[Finding], check: Check | None) -> str | None:
    """Return what kept the check from judging a resource that failed before, None where it was judged and is gone."""
    if check is None or not now:
        return "the check did not run"
    for finding in now:
        if finding.status is Status.UNKNOWN and finding.resource.concerns(Resource.of(resource)):
            return finding.message.rstrip(".")
    failed = failed_inputs(view, check.needs, resource)
    if failed:
        first = failed[0]
        return f"{observer_name(first.observer)} did not answer {clean(first.operation)} ({clean(first.error or 'failed')})"
    return None


def _muted(finding: Finding, mutes: Sequence[Mute], today: date) -> Finding:
    for mute in mutes:
        in_time = mute.until is None or today <= mute.until
        if in_time and mute.code == finding.code and _is_like(finding.resource.name, mute.resource):
            return replace(finding, muted=True)
    return finding


def _is_like(name: str, pattern: str) -> bool:
    """Return whether a name matches a pattern whose `*` match any text; linear, because names come from the cluster."""
    first, *parts = pattern.split("*")
    if not parts:
        return name == pattern
    *inner, last = parts
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for part in inner:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
