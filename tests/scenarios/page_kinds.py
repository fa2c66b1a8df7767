"""A page of each kind as a file, with recorded clusters in them, and larger and odder ones than any test bed has."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import structs

import small_cluster
from kafka_audit.checks import catalogue
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.report import report_json
from kafka_audit.report.digest import condense
from kafka_audit.report.document import build_report
from kafka_audit.report.html import decision, pages, timeline
from kafka_audit.report.html.cluster import Around, cluster_page, standalone
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.html.templating import asset
from kafka_audit.report.verdicts import Line, Section
from reported import report_of
from testbed.corpus.documents import whole_documents
from testbed.corpus.recorded import CLUSTERS, SUFFIX, unpacked

NOW = datetime(2026, 9, 14, 18, 9, tzinfo=UTC)
BROKERS, CUT, CUTTERS, FINDINGS = 100, range(70, 100), range(20, 40), 5_000
RECORDED = {
    "incident": "zookeeper_address_out_of_reach",
    "candidates": "kraft_web_server",
    "quorum": "kraft_isolated_from_controllers",
    "healthy": "kraft_healthy",
    "disk": "zookeeper_dead_disk",
}
"""Pages of clusters that were recorded; the file of the last is one without a server."""
AROUND = Around(up="../", here="../clusters/prod", age="9 minutes")


def write_pages(folder: Path) -> dict[str, Path]:
    """Write all pages with what they load; return their files by name."""
    made = {**_of_clusters(), **_around_them()}
    for name in ("page.css", "page.js"):
        (folder / name).write_text(asset(name))
    files = {name: folder / f"{name}.html" for name in made}
    for name, html in made.items():
        files[name].write_text(re.sub(r'((?:href|src)=")[./]*(page\.(?:css|js)")', r"\1\2", html))
    return files


def _of_clusters() -> dict[str, str]:
    reports: dict[str, Mapping[str, Any]] = {"small": small(), "sixty": large(60, range(56, 60)), "large": large()}
    recorded = {kind: unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes()) for kind, name in RECORDED.items()}
    found = whole_documents(recorded) | whole_documents({"healthy": recorded["healthy"]}, passing=True)
    reports |= {kind: report_json(report) | {"cluster": "prod"} for kind, report in found.items()}
    unfolded = cluster_page(report_of(reports["sixty"]), AROUND, wanted=Wanted.of({}), fold=False)
    shown = {name: cluster_page(report_of(report), AROUND, wanted=Wanted.of({})) for name, report in reports.items()}
    return {**shown, "unfolded": unfolded, "file": standalone(report_of(reports["disk"])), "timeline": _timeline(reports)}


def _around_them() -> dict[str, str]:
    report = small()
    checks = catalogue()
    return {
        "overview": _overview(report, 50),
        "empty": pages.overview_page([], now=NOW, up="./"),
        "first": pages.overview_page([pages.Glance(cluster="prod", link="", digests=[])], now=NOW, up="./"),
        "fault": pages.overview_page([], now=NOW, up="./", problems=["clusters.yaml: line 3: " + "a-long-name." * 30]),
        "error": pages.notice_page("The page cannot be shown", "An unexpected error occurred. Error 3f9a1c.", up="./"),
        "checks": pages.catalogue_page(checks, [condense(report_of(report))], up="./"),
        "check": pages.check_page(checks["KA302"], up="../"),
        "decision": _decision(report),
    }


def _timeline(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """Return snapshots of an hour each: healthy, a dead disk twice, and clusters that were cut."""
    order = ("healthy", "small", "disk", "disk", "quorum", "candidates", "incident")
    start, digests, shown = NOW - timedelta(hours=len(order)), [], []
    for number, name in enumerate(order):
        at = start + timedelta(hours=number)
        head = {"snapshot_id": f"{at:%Y%m%dT%H%M%SZ}-prod-0001", "finished_at": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
        shown.append({**reports[name], **head, "cluster": "prod"})
        digests.append(condense(report_of(shown[-1])))
    compared = timeline.compare_reports(report_of(shown[-2]), report_of(shown[-1]), digests[-1:])
    ends = (digests[-2], digests[-1])
    return pages.history_page("prod", digests, up="../../", here="../../clusters/prod", compared=compared, ends=ends, older="x")


def _decision(report: Mapping[str, Any]) -> str:
    """Return the page of a change that may not begin."""
    head = {key: report[key] for key in ("cluster", "snapshot_id", "coverage")}
    step = {"kind": "see", "text": "Restart broker 0.", "commands": ["kafka-server-stop.sh"], "cost": "", "halfway": "It is away"}
    change = head | {"verdict": "no-go", "headline": "2 blockers", "decided_at": report["finished_at"], "steps": [step]}
    lines = (Line(code="KA604", text="Replicas of orders-0 are not in sync", places=("topic/orders/partition/0", "b")),)
    sections = [Section(title="Blockers", mark="no", lines=lines), Section(title="Not known", mark="unknown", lines=lines)]
    return decision.decision_page(change, sections, (), up="../", note="No change may begin.", run_link="../runs/1")


def _document(findings: list[Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    view = small_cluster.view(spec)
    return report_json(build_report(view, None, findings, incidents(view, findings, ()), (), None))


def small() -> dict[str, Any]:
    """Return the report on three brokers without an incident."""
    brokers = range(3)
    spec = {
        "brokers": {n: f"10.99.0.1{n}:9092" for n in brokers},
        "probes": [{"from": [*brokers], "to": [*brokers]}],
        "info": {"broker_vantages": 1},
    }
    return _document([small_cluster.finding("KA411", f"broker/{n}", severity="MEDIUM") for n in brokers], spec)


def large(brokers: int = BROKERS, cut: range = CUT) -> dict[str, Any]:
    """Return the report on a large cluster, of which 20 brokers do not reach some, with 5,000 findings."""
    every = [*range(brokers)]
    spec = {
        "brokers": {n: f"kafka-{n}.kafka:9092" for n in range(brokers)},
        "views": dict.fromkeys(cut, "empty"),
        "topics": {"orders": {"partitions": {p: {"replicas": [(p + i) % brokers for i in range(3)]} for p in range(brokers)}}},
        "probes": [
            {"from": every, "to": every},
            {"from": [*CUTTERS], "to": [*cut], "layer": "tcp", "error": "connection timed out"},
        ],
        "info": {"broker_vantages": 1},
    }
    measured = {"from": [*CUTTERS], "layer": "tcp", "error": "connection timed out"}
    cut_off = {"severity": "CRITICAL", "confidence": "measured", "evidence": measured}
    findings = [small_cluster.finding("KA302", f"broker/{n}/listener/PLAINTEXT", **cut_off) for n in cut]
    findings += [small_cluster.finding("KA105", f"broker/{n}", severity="CRITICAL") for n in cut]
    numbers = range(FINDINGS - len(findings))
    findings += [small_cluster.finding("KA601", f"topic/orders-{p // 50}/partition/{p % 50}", severity="HIGH") for p in numbers]
    return _document(findings, spec)


def _overview(report: Mapping[str, Any], clusters: int) -> str:
    digest = condense(report_of(report))
    basis = structs.replace(digest.basis, incidents=1, headline="Broker 2 is cut off", severity="HIGH", lifecycle="new")
    broken = structs.replace(digest, basis=basis)
    glances = [
        pages.Glance(
            cluster=f"cluster-{n}",
            link="x",
            digests=[(broken, digest)[n > 0]] * 14,
            labels={"team": "payments", "env": ("prod", "stage")[n % 2]},
        )
        for n in range(clusters)
    ]
    return pages.overview_page(glances, now=NOW, up="./")
