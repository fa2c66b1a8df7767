"""What one party can choose any number of makes checks, incidents, report and pages that many times the work, and no more."""

from datetime import date

import pytest

import small_cluster
from kafka_audit.checks import run
from kafka_audit.cluster.changes import changes
from kafka_audit.incidents import findings
from kafka_audit.incidents.causes import incidents
from kafka_audit.report.document import build_report
from kafka_audit.report.html import cluster as cluster_page
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from reported import report_of
from samples import sampled

BROKERS = {broker: f"10.200.0.{broker}:9092" for broker in range(3)}
REFUSED = {"outcome": "failed", "error": "connection refused", "reason": "REFUSED"}
HONEST = {
    "brokers": BROKERS,
    "topics": {
        "orders": {"partitions": {0: {"replicas": [0, 1, 2]}}},
        "__consumer_offsets": {"partitions": {0: {"replicas": [1, 2, 0]}}},
    },
}


def brokers(count):
    """Return so many brokers that refuse connections, two at each address, which is an incident."""
    made_up = range(100, 100 + count)
    return {
        "brokers": {broker: f"10.1.{broker // 500}.{broker // 2 % 250}:9092" for broker in made_up},
        "probes": [{"to": broker, "vantage": "worker", "layer": "tcp", **REFUSED} for broker in made_up],
        "reads": [
            {"observer": f"broker:{broker}", "operation": operation, "error": "connection refused", "reason": "REFUSED"}
            for broker in made_up
            for operation in ("ApiVersions", "Metadata")
        ],
    }


def listeners(count):
    names = [f"L{number}" for number in range(count)]
    addresses = {name: f"PLAINTEXT://10.1.1.1:{1000 + number}" for number, name in enumerate(names)}
    refused = [{"to": 2, "listener": name, "vantage": "worker", "layer": "tcp", **REFUSED} for name in names]
    return {"brokers": {2: {"listeners": {"PLAINTEXT": "PLAINTEXT://10.200.0.2:9092", **addresses}}}, "probes": refused}


def acls(count):
    """Return entries that let anybody write, of principals whose names differ."""
    return {
        "configs": {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"},
        "acls": [[f"User:u{number}", "Write", "ALLOW", "*", "Topic", f"t{number}", "PREFIXED"] for number in range(count)],
    }


def acls_of_one(count):
    """Return entries that one broker alone has."""
    return {**acls(0), "acls_of": {2: [[f"User:u{number}", "ClusterAction"] for number in range(count)]}}


def topics(count):
    """Return partitions that have no leader, for one of two brokers that are gone."""
    made = {
        f"t{number}": {"partitions": {0: {"replicas": [7 + number % 2], "leader": -1, "isr": [7 + number % 2]}}}
        for number in range(count)
    }
    return {"topics": made}


def groups(count):
    return {
        "groups": {
            f"g{number}": {"at": 1, "client": f"c{number}", "host": "/10.1.1.1", "partitions": [f"orders-{number}"]}
            for number in range(count)
        }
    }


def log_lines(count):
    kind = {"broker": 2, "about": 2, "signature": "zookeeper_login_failed", "part": "ZooKeeperClient"}
    return {"logs": [{**kind, "detail": f"javax.security.sasl.SaslException: {number}"} for number in range(count)]}


def settings(count):
    return {"configs": {2: {f"made.up.{number}": f"{number}" for number in range(count)}}}


def files(count):
    return {"properties": {2: {f"made.up.{number}": f"{number}" for number in range(count)}}}


def users(count):
    return {"scram": {"SCRAM-SHA-512": [f"u{number}" for number in range(count)]}}


def disks(count):
    return {"log_dirs": {2: {f"/data{number}": {"error": 56} for number in range(count)}}}


def transactions(count):
    old = [{"of": f"orders-{number}", "stable": 1, "end": 9, "older_s": 7200} for number in range(count)]
    partitions = {number: {"replicas": [0, 1, 2]} for number in range(count)}
    return {
        "topics": {"orders": {"partitions": partitions}, "__transaction_state": {"partitions": {0: {"replicas": [0]}}}},
        "transactions": old,
    }


def certificates(count):
    others = [{"listener": "CONTROLLER", "host": f"h{number}", "port": 9093, "days": 3} for number in range(count)]
    return {"certificates_of_others": others}


CHOSEN = {
    made.__name__: made
    for made in (
        brokers,
        listeners,
        acls,
        acls_of_one,
        topics,
        groups,
        log_lines,
        settings,
        files,
        users,
        disks,
        transactions,
        certificates,
    )
}


def view(chosen, count):
    """Return three honest brokers, and beside them what a party chooses so many times."""
    made = CHOSEN[chosen](count)
    world = HONEST | made | {part: HONEST[part] | made.get(part, {}) for part in HONEST}
    return small_cluster.view(small_cluster.snapshot(world, before={} if chosen == "brokers" else None))


def judged(view):
    """Return the report on a cluster."""
    found = findings.findings_with_lifecycle(view, run.judge(view), mutes=(), previous_report=None, today=date(2026, 9, 14))
    changed = changes(view)
    return build_report(view, None, found, incidents(view, found, changed), changed, None, show_all=False, passed_over=())


def page(document):
    cluster_page.cluster_page(report_of(document), cluster_page.Around(up="../", here="../clusters/c"), wanted=Wanted())


def terminal(document):
    terminal_report(report_of(document), width=100, color=False)


SHOWN = {"page": page, "terminal": terminal, "markdown": markdown_report}
SIZES = {"brokers": (40, 160)}


@pytest.mark.parametrize("chosen", sampled(CHOSEN, 13))
def test_judging_grows_with_what_a_party_chooses(chosen, exponent):
    """1,000 brokers took 41 s of CPU, 250 took 5."""
    assert exponent(judged, SIZES.get(chosen, (250, 1_000)), lambda count: view(chosen, count)) <= 1.1


@pytest.mark.parametrize("shown", sampled(SHOWN, 3))
@pytest.mark.parametrize("chosen", sampled(CHOSEN, 13))
def test_what_is_shown_grows_with_what_a_party_chooses(chosen, shown, exponent):
    assert exponent(SHOWN[shown], SIZES.get(chosen, (250, 1_000)), lambda count: judged(view(chosen, count))) <= 1.1
