"""Incidents 001 and 002 without ZooKeeper, where nobody registers addresses; and wrong ones that no controller refuses."""

import pytest
import yaml

from scenarios.audits import Audits, assert_repaired, evidence_of, failing, finding_of, from_host
from testbed import presets
from testbed.names import Nameserver, own_names
from testbed.proxy import Proxy

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

TOPICS = {"orders": {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]}}
NAMES = {broker: f"kafka-{broker}.kafka-headless.ns.svc.cluster.local" for broker in range(3)}
QUICK = {"read_s": 3, "settle_s": 2}


@pytest.fixture(scope="module")
def cluster(bed):
    return with_topics(bed.kraft("4.3.0", controllers=1, **presets.split()))


@pytest.fixture(scope="module")
def pods(bed):
    """A cluster whose brokers advertise to clients what Kubernetes calls their pods."""
    number = len(bed.clusters)
    names = {
        broker: {"advertised.listeners": f"CLIENT://{name}:9092,INTERNAL://10.99.{number}.{10 + broker}:9094"}
        for broker, name in NAMES.items()
    }
    return with_topics(bed.kraft("4.3.0", controllers=1, **presets.split(), per_broker=names))


def with_topics(cluster):
    for name, assignment in TOPICS.items():
        cluster.create_topic(name, assignment)
    cluster.await_settled()
    return cluster


@pytest.fixture
def advertise(cluster):
    """Return what lets a broker of the first cluster advertise something else to clients, until the test is over."""
    changed = set()

    def restart(broker, address):
        internal = f"INTERNAL://{cluster.brokers[broker].host.address}:9094"
        cluster.restart_brokers({broker: {"advertised.listeners": f"CLIENT://{address},{internal}"}})

    def change(broker, address):
        changed.add(broker)
        restart(broker, address)

    def repair():
        for broker in changed:
            restart(broker, cluster.brokers[broker].address)
        changed.clear()
        cluster.await_settled()

    change.repair = repair
    yield change
    repair()


@pytest.mark.airflow
def test_endpoints_that_clients_miss_are_told_and_so_is_their_end(audits, bed, cluster):
    dmz = bed.hosts.add("dmz", "10.99.9.100")
    for broker in (1, 2):
        bed.cut(dmz, cluster.brokers[broker].host)
    audits.describe("near", limits=QUICK, vantages={"dmz": from_host(dmz)})
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    (incident,) = broken.report["incidents"]
    assert incident["headline"] == "Clients at dmz cannot reach brokers 1 and 2: 2 of 3 advertised endpoints fail at tcp"
    assert (incident["cause"], incident["severity"], incident["confidence"]) == ("KA301", "HIGH", "measured")
    assert "vantage dmz: layer by layer: dns 3 of 3, tcp 1 of 3, api 1 of 1, packets 1 of 1" in evidence_of(incident)
    missed = {("KA301", f"broker/{broker}/listener/CLIENT") for broker in (1, 2)}
    assert failing(broken.report, at_least="HIGH") == missed
    (row,) = [observer for observer in broken.report["matrix"]["observers"] if observer["name"] == "dmz"]
    assert row["reach"] == ".TT"
    assert f"near: {incident['headline']}" in broken.said

    for broker in (1, 2):
        bed.heal(dmz, cluster.brokers[broker].host)
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report, "KA301")


@pytest.mark.airflow
def test_names_that_resolve_only_inside_are_told_beside_the_way_in(bed, pods, tmp_path):
    """A load balancer leads to broker 0; what it answers are names that nobody outside can look up."""
    audits = Audits(bed, pods, tmp_path)
    right = {name: pods.brokers[broker].host.address for broker, name in NAMES.items()}
    inside, outside = (
        Nameserver(bed.hosts.add(f"dns-{name}", address), known)
        for name, address, known in (("inside", "10.99.9.101", right), ("outside", "10.99.9.102", {}))
    )
    gateway = bed.hosts.add("gateway", "10.99.9.104")
    proxy = Proxy(gateway, bed.folder / "nginx", {9092: pods.brokers[0].address})
    own_names(bed.worker, bed.folder / "names", nameservers=[outside.host.address])
    audits.describe("near", bootstrap=[proxy.address(9092)], limits=QUICK)
    broken = audits.by_dag("near", "broken.log")
    assert broken.code == 1, broken.tail
    (incident,) = broken.report["incidents"]
    assert incident["headline"] == "Clients at worker cannot reach 3 brokers: 3 of 3 names resolve only inside Kubernetes"
    assert (incident["cause"], incident["severity"], incident["confidence"]) == ("KA301", "HIGH", "measured")
    assert any(f"nameserver {outside.host.address} has no record of {NAMES[0]}" in line for line in evidence_of(incident))
    explained = set(incident["findings"])
    heavy = [
        finding
        for finding in broken.report["findings"]
        if finding["status"] == "FAIL" and finding["severity"] in {"HIGH", "CRITICAL"}
    ]
    assert [finding["message"] for finding in heavy if finding["fingerprint"] not in explained] == []

    own_names(bed.worker, bed.folder / "names", nameservers=[inside.host.address])
    repaired = audits.by_dag("near", "repaired.log")
    assert repaired.code == 0, repaired.tail
    assert_repaired(repaired.report, "KA301")
    proxy.stop()


def test_an_address_that_each_host_takes_for_itself(audits, advertise):
    audits.describe("near", limits=QUICK)
    advertise(2, "localhost:9092")
    audit = audits.by_command("near", "--all")
    assert audit.code == 3, audit.said
    (incident,) = audit.report["incidents"]
    where = "broker/2/listener/CLIENT"
    loopback = finding_of(audit.report, "KA303", where)
    assert (loopback["status"], loopback["severity"]) == ("FAIL", "HIGH")
    assert loopback["message"] == (
        "Clients on other hosts may not reach broker 2: listener CLIENT advertises localhost:9092, a loopback name"
    )
    assert incident["headline"] == ("Clients cannot reach broker 2: it advertises localhost:9092, each host's own address")
    assert (incident["cause"], incident["confidence"]) == ("KA301", "measured")
    assert loopback["fingerprint"] in incident["findings"]

    advertise.repair()
    audit = audits.by_command("near", "--all")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, incident["cause"])
    assert finding_of(audit.report, "KA303", where)["status"] == "PASS"


def test_an_address_that_two_brokers_advertise(audits, cluster, advertise):
    """With ZooKeeper a broker refuses to start with another's address; without, it starts."""
    audits.describe("near", limits=QUICK)
    advertise(2, cluster.brokers[1].address)
    audit = audits.by_command("near", "--all")
    assert audit.code == 3, audit.said
    (incident,) = audit.report["incidents"]
    assert (incident["cause"], incident["severity"]) == ("KA304", "CRITICAL")
    assert incident["headline"].startswith("Brokers 1 and 2 share one address: clients cannot reach each of them at ")
    shared = {("KA304", f"broker/{broker}/listener/CLIENT") for broker in (1, 2)}
    assert failing(audit.report, at_least="CRITICAL") >= shared

    advertise.repair()
    audit = audits.by_command("near", "--all")
    assert audit.code == 0, audit.said
    assert_repaired(audit.report, "KA304")


def test_the_listener_between_brokers_is_judged_though_no_bootstrap_address_leads_to_it(audits, bed, cluster):
    """What is asked on one listener lists no other: brokers' settings say where they reach each other."""
    entry = yaml.safe_load(cluster.clusters_yaml("any"))["clusters"]["any"]
    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=[cluster.brokers[0].address])
    where = "broker/2/listener/INTERNAL"
    whole = audits.by_command("near", "--all")
    assert whole.code == 0, whole.said
    assert finding_of(whole.report, "KA302", where)["status"] == "PASS"
    assert [
        finding
        for finding in whole.report["findings"]
        if finding["code"] == "KA301" and "INTERNAL" in finding["resource"]["name"]
    ] == []

    both = [cluster.brokers[0].address, f"{cluster.brokers[0].host.address}:9094"]
    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=both)
    of_both = audits.by_command("near", "--all")
    assert (of_both.code, "sample 2" in of_both.said) == (0, False), of_both.said
    assert finding_of(of_both.report, "KA302", where)["status"] == "PASS"

    audits.describe("near", limits=QUICK, vantages=entry["vantages"], bootstrap=both[:1])
    for follower in (0, 1):
        bed.cut(cluster.brokers[follower].host, cluster.brokers[2].host)
    broken = audits.by_command("near", "--all")
    assert broken.code == 3, broken.said
    assert finding_of(broken.report, "KA302", where)["status"] == "FAIL"
    (incident,) = broken.report["incidents"]
    assert (incident["cause"], incident["confidence"]) == ("KA302", "measured")

    for follower in (0, 1):
        bed.heal(cluster.brokers[follower].host, cluster.brokers[2].host)
    healed = audits.by_command("near", "--all")
    assert healed.code == 0, healed.said
    assert finding_of(healed.report, "KA302", where)["status"] == "PASS"
    assert_repaired(healed.report, "KA302")
