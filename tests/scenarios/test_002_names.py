"""Incident 002: names that resolve only inside Kubernetes, and a proxy as the declared way in."""

import pytest

from scenarios.audits import assert_repaired, evidence_of, failing, finding_of, from_host
from testbed import Bed, presets
from testbed.names import Nameserver, own_names
from testbed.proxy import Proxy

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}
NAMES = {broker: f"kafka-{broker}.kafka-headless.ns.svc.cluster.local" for broker in range(3)}
QUICK = {"read_s": 3, "settle_s": 2}
OUTSIDE = {"listeners": {"INTERNAL": "skip"}, "bootstrap": None, "limits": QUICK}
"""What an audit from outside knows: ZooKeeper, and the listener for clients."""

ENDPOINTS = {f"broker/{broker}/listener/CLIENT" for broker in NAMES}
AS_PODS = {
    broker: {"advertised.listeners": f"CLIENT://{name}:9092,INTERNAL://10.99.0.{10 + broker}:9094"}
    for broker, name in NAMES.items()
}
"""Settings of brokers that advertise to clients what Kubernetes calls their pods."""

PORTS = {broker: 19092 + broker for broker in NAMES}


@pytest.fixture(scope="module")
def bed(tmp_path_factory, version):  # noqa: ARG001 -- a bed for each version: the addresses of `AS_PODS` are those of its first cluster
    folder = tmp_path_factory.mktemp("bed")
    with Bed(folder, keep_logs=folder / "kept-logs") as bed:
        yield bed


@pytest.fixture(scope="module")
def cluster(bed, version):
    cluster = bed.cluster(version, **presets.split(), per_broker=AS_PODS)
    cluster.create_topics(TOPICS)
    cluster.make_controller(0)
    cluster.await_settled()
    return cluster


@pytest.fixture(scope="module")
def inside(bed, cluster):
    """The nameserver of the inside."""
    return Nameserver(
        bed.hosts.add("dns-inside", "10.99.0.101"),
        {NAMES[broker]: started.host.address for broker, started in cluster.brokers.items()},
    )


@pytest.fixture(scope="module")
def outside(bed):
    """A nameserver that knows nobody."""
    return Nameserver(bed.hosts.add("dns-outside", "10.99.0.102"), {})


@pytest.fixture(scope="module")
def pod(bed, inside):
    """A host inside."""
    host = bed.hosts.add("pod", "10.99.0.103")
    own_names(host, bed.folder / "names", nameservers=[inside.host.address])
    return host


@pytest.fixture(scope="module")
def gateway(bed):
    return bed.hosts.add("gateway", "10.99.0.104")


@pytest.fixture
def names(bed, outside):
    """Return what gives the worker another nameserver; it begins outside."""

    def ask(nameserver):
        own_names(bed.worker, bed.folder / "names", nameservers=[nameserver.host.address])

    ask(outside)
    return ask


def direct(cluster):
    return {PORTS[broker]: started.address for broker, started in cluster.brokers.items()}


@pytest.fixture
def proxy(bed, cluster, gateway):
    proxy = Proxy(gateway, bed.folder / "nginx", direct(cluster))
    yield proxy
    proxy.stop()


def through(proxy, ports=PORTS):
    return {f"{NAMES[broker]}:9092": proxy.address(port) for broker, port in ports.items()}


def assert_inside_only(report, outside):
    (incident,) = report["incidents"]
    assert incident["headline"] == "Clients at worker cannot reach 3 brokers: 3 of 3 names resolve only inside Kubernetes"
    assert (incident["cause"], incident["severity"], incident["confidence"]) == ("KA301", "HIGH", "measured")
    assert "at listener CLIENT of brokers 0, 1 and 2" in incident["impact"]
    lines = evidence_of(incident)
    assert any(f"nameserver {outside.host.address} has no record of {NAMES[0]}" in line for line in lines), lines
    assert "vantage worker: layer by layer: dns 0 of 3" in lines
    assert [line["text"] for line in incident["evidence_against"]] == ["reaches 3 of 3: this is no proof for clients elsewhere"]
    ways = [step["text"] for step in incident["remediation"] if "(way " in step["text"]]
    assert [text.partition("(")[2][:5] for text in ways] == ["way 1", "way 2", "way 3", "way 4"]
    assert all(step["cost"] for step in incident["remediation"] if "(way " in step["text"])
    assert {resource for code, resource in failing(report) if code == "KA301"} == ENDPOINTS
    for resource in ENDPOINTS:
        evidence = finding_of(report, "KA301", resource)["evidence"]
        assert (evidence["layer"], evidence["error"]) == ("dns", "name or service not known")
        assert evidence["resolver"] == f"nameserver {outside.host.address}"
    assert_all_explained(report)


def assert_all_explained(report):
    explained = {finding for incident in report["incidents"] for finding in incident["findings"]}
    heavy = [
        finding for finding in report["findings"] if finding["status"] == "FAIL" and finding["severity"] in {"HIGH", "CRITICAL"}
    ]
    assert [finding["message"] for finding in heavy if finding["fingerprint"] not in explained] == []


def test_the_command_names_the_layer_the_network_and_the_ways_out(audits, names, inside, outside, pod):
    audits.describe("outside", **OUTSIDE, vantages={"pod": from_host(pod)})
    audit = audits.by_command("outside")
    assert audit.code == 3, audit.said
    assert_inside_only(audit.report, outside)

    names(inside)
    audit = audits.by_command("outside")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, "KA301")


@pytest.mark.airflow
def test_the_gate_of_the_dag_fails_with_it_and_passes_inside(audits, names, inside, outside, pod):
    audits.describe("near", **OUTSIDE, vantages={"pod": from_host(pod)})
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    assert_inside_only(broken.report, outside)
    assert f"near: {broken.report['incidents'][0]['headline']}" in broken.said

    names(inside)
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report, "KA301")


def test_a_name_that_means_something_else_elsewhere_is_told_with_both_answers(audits, bed, names, inside):
    names(inside)
    office = bed.hosts.add("office", "10.99.0.105")
    own_names(office, bed.folder / "names", hosts={NAMES[broker]: f"10.98.77.{broker + 1}" for broker in NAMES})
    audits.describe("split", **OUTSIDE, vantages={"office": from_host(office)})
    audit = audits.by_command("split")
    assert audit.code == 3, audit.said
    (incident,) = audit.report["incidents"]
    assert incident["headline"] == "Clients at office cannot reach brokers 0, 1 and 2: 3 of 3 advertised endpoints fail at tcp"
    resolves = f"resolves to 10.98.77.1 at office (hosts file), 10.99.0.10 at this worker (nameserver {inside.host.address})"
    assert f"name {NAMES[0]}: {resolves}" in evidence_of(incident)


@pytest.mark.usefixtures("names")
def test_a_proxy_is_audited_through_and_its_end_is_told(audits, proxy, cluster):
    audits.describe("proxied", **OUTSIDE, reach=through(proxy))
    proxy.stop()
    audit = audits.by_command("proxied")
    assert audit.code == 3, audit.said
    (incident,) = audit.report["incidents"]
    assert incident["headline"] == "Clients at this worker cannot reach brokers 0, 1 and 2: 3 of 3 endpoints fail at tcp"
    assert finding_of(audit.report, "KA301", "broker/0/listener/CLIENT")["evidence"]["via"] == [proxy.address(PORTS[0])]
    assert_all_explained(audit.report)

    proxy.start(direct(cluster))
    audit = audits.by_command("proxied", "--all")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, "KA301")
    assert {
        finding_of(audit.report, code, endpoint)["status"]
        for endpoint in ENDPOINTS
        for code in ("KA111", "KA301", "KA313", "KA315")
    } == {"PASS"}
    alone = finding_of(audit.report, "KA314", "cluster")
    assert (alone["status"], alone["severity"]) == ("FAIL", "LOW")
    assert audit.report["coverage"]["answered"] == audit.report["coverage"]["asked"]


@pytest.mark.usefixtures("names")
def test_a_proxy_wired_to_the_wrong_broker_and_a_mapping_that_is_missing(audits, proxy, cluster):
    """Each of both leads a broker's clients astray; what the audit says of one does not hide the other."""
    right = direct(cluster)
    proxy.start(right | {PORTS[1]: right[PORTS[0]]})
    audits.describe("wired", **OUTSIDE, reach=through(proxy, {0: PORTS[0], 1: PORTS[1]}))
    audit = audits.by_command("wired")
    assert audit.code == 3, audit.said
    wrong, inside = audit.report["incidents"]
    assert (wrong["cause"], wrong["severity"]) == ("KA111", "CRITICAL")
    assert wrong["headline"] == "Broker 1 is not at its address: another broker answers there"
    assert f"address {NAMES[1]}:9092: advertised by broker 1, answered by broker 0" in evidence_of(wrong)
    assert inside["headline"] == "Clients at this worker cannot reach broker 2: 1 of 3 names resolves only inside Kubernetes"
    left_out = finding_of(audit.report, "KA313", "broker/2/listener/CLIENT")
    assert (left_out["status"], left_out["severity"]) == ("FAIL", "MEDIUM")
    assert_all_explained(audit.report)

    proxy.start(right)
    audits.describe("wired", **OUTSIDE, reach=through(proxy))
    audit = audits.by_command("wired")
    assert audit.code == 0, audit.said
    assert audit.report["incidents"] == []
    assert {incident["cause"] for incident in audit.report["resolved_incidents"]} == {"KA111", "KA301"}
