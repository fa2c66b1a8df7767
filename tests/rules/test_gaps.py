"""Rule 1, a gap is never harmless: with any one read refused, no finding passes, no destructive step appears, no warning goes.

Judged are the clusters of all cases: those of incidents by every check, those of a check by this one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from checks.cases import base, cases
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.case_files import case_files, pair
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Status
from kafka_audit.model.report import Report, ReportedIncident
from rules.failed_reads import each_refused
from samples import sampled
from testbed.corpus.documents import Pair, whole_documents

WITHOUT = " without "
STEPS = {
    "restart": re.compile(r"\brestart (?!of\b|helps\b)", re.IGNORECASE),
    "disk": re.compile(r"\b(replace|empty|format)\b[^.;]{0,40}\b(disk|log dir|director|volume)", re.IGNORECASE),
    "delete": re.compile(r"\bdelete|--delete\b|\brmr\b", re.IGNORECASE),
    "reassign": re.compile(r"\breassign", re.IGNORECASE),
    "unclean": re.compile(r"election-type unclean|unclean\.leader\.election\.enable=true", re.IGNORECASE),
    "abort": re.compile(r"\babort", re.IGNORECASE),
}
"""Steps that lose something, or stop a broker, by the words of a step."""

KNOWN: dict[str, str] = {
    "a_controller_that_stands_still": "without states of partitions its last decisions are those that one broker does not have",
    "a_controller_that_tells_nobody_of_a_new_broker": "without one view all others lack the broker: each alone looks cut off",
    "two_pictures": "without one broker's part of the picture the rest fits a missing right",
    "kraft_broker_that_is_cut_from_everybody": "without its view only the edges that end at the others are left",
    "two_cuts_with_a_follower_each": "in KRaft settings alone name the listener between brokers: without them no cut is known",
    "kraft_broker_that_reaches_nobody": "without one view only the edges that end at the others are left",
}
"""Cases of incidents where a step appears today, and why."""

HARMLESS = {Status.PASS, Status.NOT_APPLICABLE}


def refused(pairs: Mapping[str, Pair]) -> dict[str, Pair]:
    """Return each pair with each of its reads refused."""
    found: dict[str, Pair] = {}
    for name, (snapshot, previous) in pairs.items():
        for read, left in each_refused(snapshot):
            key = f"{name}{WITHOUT}{read}"
            earlier = None if previous is None else replace(previous, snapshot_id=f"{key} before")
            found[key] = (replace(left, snapshot_id=key), earlier)
    return found


def kinds(text: str) -> set[str]:
    return {kind for kind, words in STEPS.items() if words.search(text)}


def destructive(incidents: list[ReportedIncident]) -> set[str]:
    steps = (step for incident in incidents for step in incident.remediation if step.kind in {"quick", "lasting"})
    return {kind for step in steps for kind in kinds(" ".join((step.text, *step.commands)))}


def warned(incidents: list[ReportedIncident]) -> set[str]:
    return {kind for incident in incidents for step in incident.remediation if step.kind == "do_not" for kind in kinds(step.text)}


def about(found: Report, incident: ReportedIncident) -> list[ReportedIncident]:
    """Return the incidents that name a finding of this one."""
    return [one for one in found.incidents if {*one.findings} & {*incident.findings}]


def wrong_steps(whole: Report, left: Report) -> Iterator[str]:
    for incident in left.incidents:
        if more := destructive([incident]) - destructive(about(whole, incident)):
            yield f"{incident.headline}: {', '.join(sorted(more))} appears"
    for incident in whole.incidents:
        same = about(left, incident)
        if lost := (warned([incident]) & destructive(same)) - warned(same):
            yield f"{incident.headline}: the warning of {', '.join(sorted(lost))} is gone"


@pytest.mark.parametrize(("family", "name"), sampled([key for key in case_files() if key[1] not in KNOWN], every=40))
def test_no_refused_read_brings_a_destructive_step_or_takes_its_warning(family, name):
    pairs = {name: pair((family, name), name)}
    found = whole_documents(pairs | refused(pairs))
    wrong = {key: texts for key, document in found.items() if (texts := [*wrong_steps(found[name], document)])}
    assert wrong == {}


RED: dict[str, str] = {
    "KA101": "in KRaft the newest leader epoch of any view is right: without the view that has it the others agree",
    "KA105": "in KRaft the view of most brokers is right: of two that are left none is",
    "KA107": "in KRaft the view of most brokers is right: of two that are left none is",
    "KA110": "in KRaft the cluster id of most brokers is right: of two that are left none is",
    "KA111": "which cluster id is right is ZooKeeper's to say",
    "KA210": "a node with both roles is known to be a broker by its view alone",
    "KA213": "in a quorum what most nodes name is right: of two that are left none is",
    "KA222": "a node without a file has its roles by its settings alone",
    "KA302": "in KRaft a leader without followers is not judged without its settings, and passes where no reassignment is known",
    "KA303": "in KRaft a listener that settings alone name is not known without them",
    "KA305": "a listener that one broker's settings alone name, or its view alone, is not known without them",
    "KA413": "a file that names no listener has the default one, which reads no rules",
    "KA719": "what holds in place of a line is known by the answer of the broker alone",
}
"""Checks that call a gap harmless, or are silent about it, today, and why."""


def harmless(code: str) -> dict[str, list[str]]:
    """Return failures of a check's cases that pass, do not apply, or are gone where a read was refused, by the case and read."""
    check, found = catalogue()[code], {}
    pairs = {f"{code}-{name}": snapshots(base(), f"{code}-{name}", case) for name, case in cases(code).items()}
    judged, names = {}, {}
    for key, view in cluster_views(pairs | refused(pairs)).items():
        judged[key] = {judgement.resource: judgement.status for judgement in judge(view, {code: check})}
        names[key] = view.reads.resources  # an address is the broker that had it, as far as that is known
    for key, now in judged.items():
        whole = key.partition(WITHOUT)[0]
        named = {names[whole].get(observer): name for observer, name in names[key].items()}
        failed = [named.get(resource, resource) for resource, status in judged[whole].items() if status is Status.FAIL]
        gone = [
            resource
            for resource in failed
            if now.get(resource) in HARMLESS or (resource not in now and Status.UNKNOWN not in now.values())
        ]
        if WITHOUT in key and gone:
            found[key] = gone
    return found


CHECKS = [code for code, check in catalogue().items() if check.kind == "audit"]


@pytest.mark.parametrize("code", sampled([code for code in CHECKS if code not in RED], every=30))
def test_no_refused_read_makes_a_failure_harmless(code):
    assert harmless(code) == {}


@pytest.mark.large
@pytest.mark.parametrize("code", RED)
def test_a_known_gap_is_still_one(code):
    """A mend removes its line."""
    assert harmless(code) != {}
