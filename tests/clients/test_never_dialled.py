"""Addresses that are never dialled, whichever party lists them: no socket is opened, and the rows say so."""

import io
import socket
import subprocess
from contextlib import contextmanager

import pytest

from collect import taken
from collect.fakes import FakeBroker, server
from kafka_audit.clients import probe_script, sockets
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.sockets import MEANT, never_dialled
from kafka_audit.clients.tls import UNVERIFIED
from kafka_audit.collect.brokers.broker_view import BrokerAsker
from kafka_audit.collect.brokers.views import ViewBook
from kafka_audit.collect.probes import command_vantages, endpoint_probes
from kafka_audit.collect.probes.command_vantages import bash_text, python_text
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.collect.zookeeper import zookeeper_view
from kafka_audit.model.cluster import Cluster, Limits, Vantage, ZookeeperAccess
from kafka_audit.model.tables import Probe, SourceRead

NOBODY = ClusterLogins(Cluster(name="none"), {})
LINK_LOCAL = "169.254.169.254"
SAID = "not dialled: link-local address"
NEVER = {
    "169.254.0.1": "link-local address",
    LINK_LOCAL: "link-local address",
    "fe80::1": "link-local address",
    "fe80::1%eth0": "link-local address",
    "febf::1": "link-local address",
    "::ffff:169.254.169.254": "link-local address",
    "::169.254.169.254": "link-local address",
    "64:ff9b::a9fe:a9fe": "link-local address",
    "2002:a9fe:a9fe::1": "link-local address",
    "224.0.0.1": "multicast address",
    "239.255.255.255": "multicast address",
    "ff02::1": "multicast address",
    "::ffff:224.0.0.1": "multicast address",
    "64:ff9b::e000:1": "multicast address",
    "2002:e000:1::1": "multicast address",
    "0.0.0.0": "unspecified address",  # noqa: S104 -- nothing is bound
    "0.1.2.3": "unspecified address",
    "::": "unspecified address",
    "::ffff:0.0.0.0": "unspecified address",
    "64:ff9b::": "unspecified address",
    "64:ff9b::1:2": "unspecified address",
    "2002::1": "unspecified address",
    "255.255.255.255": "broadcast address",
    "::ffff:255.255.255.255": "broadcast address",
    "64:ff9b::ffff:ffff": "broadcast address",
    "100.100.100.200": "cloud metadata address",
    "::ffff:100.100.100.200": "cloud metadata address",
    "64:ff9b::6464:64c8": "cloud metadata address",
    "168.63.129.16": "cloud metadata address",
    "192.0.0.192": "cloud metadata address",
    "2002:c000:c0::1": "cloud metadata address",
    "fd00:ec2::254": "cloud metadata address",
    "fd00:ec2::253": "cloud metadata address",
    "fd00:ec2::23": "cloud metadata address",
    "fd00:ec2::123": "cloud metadata address",
    "fd00:ec2:0:1::1": "cloud metadata address",
    "fd20:ce::254": "cloud metadata address",
    "fd00:c1::a9fe:a9fe": "cloud metadata address",
    "fd00:42::42": "cloud metadata address",
    "::ffff:0:a9fe:a9fe": "link-local address",
    "::ffff:0:169.254.169.254": "link-local address",
    "64:ff9b:1::a9fe:a9fe": "link-local address",
    "64:ff9b:1:ab::a9fe:a9fe": "link-local address",
    "64:ff9b:1:a9fe:a9:fe00::": "link-local address",
    "64:ff9b:1:a9:fe:a9fe::": "link-local address",
    "64:ff9b:1:0:a9:fea9:fe00:0": "link-local address",
    "64:ff9b:1::6464:64c8": "cloud metadata address",
    "2001:0:a9fe:a9fe::1": "link-local address",
    "2001::5601:5601": "unspecified address",
    "2001:0:4136:e378:8000:63bf:5601:5601": "link-local address",
    "2001:0:4136:e378:8000:63bf:1fff:fffe": "multicast address",
    "2001:db8::5efe:a9fe:a9fe": "link-local address",
    "fd12::200:5efe:169.254.169.254": "link-local address",
}
HONEST = [
    "127.0.0.1", "::1", "10.0.0.255", "169.253.255.255", "169.255.0.1", "100.100.100.201", "223.255.255.255", "240.0.0.1",
    "1.0.0.0", "192.168.1.255", "fd00::12", "fd00:ec3::254", "fd00:c1::1", "fd00:42::1", "fec0::1",
    "2001:db8::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
    "2002:a00:1::1", "fe00::1", "::ffff:0:10.0.0.1", "64:ff9b:1::a00:1", "64:ff9b:1:a00:0:100::", "64:ff9b:1:a:0:1::",
    "64:ff9b:1:0:a:0:100:0", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::5efe:a00:1", "2001:db8:a9fe:a9fe::1",
    "fd12::a9fe:a9fe", "2a00:1450:4001:80e::2004",
]  # fmt: skip


@pytest.mark.parametrize("address", [*NEVER, *HONEST])
def test_kinds_of_addresses(address):
    assert never_dialled(address) == NEVER.get(address)


def test_bash_knows_the_same_kinds():
    script = (
        command_vantages.importlib.resources.files("kafka_audit.collect.probes")
        .joinpath("probe_script.sh")
        .read_text(encoding="utf-8")
    )
    asked = "".join(f"KIND=; never '{address}'; echo \"$KIND\"\n" for address in [*NEVER, *HONEST])
    completed = subprocess.run(["bash", "-s"], input=f"{script}\n{asked}", capture_output=True, text=True, check=True)
    assert dict(zip([*NEVER, *HONEST], completed.stdout.splitlines(), strict=True)) == NEVER | dict.fromkeys(HONEST, "")


@contextmanager
def resolving(monkeypatch, **names):
    """Let names with dots as underscores mean these addresses; a list is one answer after the other. Yields what was asked."""
    real, asked = socket.getaddrinfo, []

    def answer(host, port, *arguments, **more):
        asked.append(host)
        answer = names.get(host.replace(".", "_"))
        if answer is None:
            return real(host, port, *arguments, **more)
        now = answer.pop(0) if isinstance(answer, list) else answer
        return [info for address in now.split() for info in real(address, port, 0, socket.SOCK_STREAM)]

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", answer)
        yield asked


@pytest.fixture
def dialled(monkeypatch):
    """Every address that a socket is to be connected with; those of this machine are."""
    found = []
    for name in ("connect", "connect_ex"):
        real = getattr(socket.socket, name)

        def connect(self, address, real=real):
            found.append(address)
            if not str(address[0]).startswith("127."):
                raise ConnectionAbortedError
            return real(self, address)

        monkeypatch.setattr(socket.socket, name, connect)
    return found


def target(host, port=9092, via=None):
    return taken.target((host, port), via=via)


def asked(endpoint, budget=None):
    return BrokerAsker([endpoint], 1, ClientOptions(read_s=300.0, budget=budget or Budget()), ViewBook()).ask().rows


def steps(rows):
    return [(row.layer, row.outcome, row.error) for row in rows if isinstance(row, Probe)]


@pytest.mark.parametrize("host", [LINK_LOCAL, "0.0.0.0", "::", "fe80::1", "2852039166", "0xa9fea9fe", "169.254.43518"])  # noqa: S104 -- nothing is bound
def test_an_address_that_a_broker_lists_is_not_dialled(dialled, host):
    rows = asked(target(host))
    assert dialled == []
    kind = "unspecified" if host in {"0.0.0.0", "::"} else "link-local"  # noqa: S104
    assert steps(rows) == [("dns", "ok", None), ("tcp", "unknown", f"not dialled: {kind} address")]
    reads = [row for row in rows if isinstance(row, SourceRead)]
    assert {(row.outcome, row.error, row.needs) for row in reads} == {("failed", f"not dialled: {kind} address", MEANT)}


def test_a_name_that_means_one_is_not_dialled(dialled, monkeypatch):
    with resolving(monkeypatch, broker_example=LINK_LOCAL):
        rows = asked(target("broker.example"))
    assert dialled == []
    assert steps(rows)[-1] == ("tcp", "unknown", SAID)


def test_of_several_addresses_the_others_are(dialled, monkeypatch):
    with server(FakeBroker(0)) as (_, port), resolving(monkeypatch, broker_example=f"{LINK_LOCAL} 127.0.0.1"):
        rows = asked(target("broker.example", port))
    assert {address[0] for address in dialled} == {"127.0.0.1"}
    assert steps(rows)[-2:] == [("identity", "ok", None), ("packets", "ok", None)]


def test_what_was_looked_at_is_what_is_dialled(dialled, monkeypatch):
    """A name server that answers well at first, and with another address when it is asked again."""
    names = {"broker_example": ["127.0.0.1", LINK_LOCAL, LINK_LOCAL]}
    with server(FakeBroker(0)) as (_, port), resolving(monkeypatch, **names) as lookups:
        rows = asked(target("broker.example", port))
    assert {address[0] for address in dialled} == {"127.0.0.1"}
    assert lookups.count("broker.example") == 2, "one for the probe, one for the conversation, none in the library"
    assert {row.error for row in rows if isinstance(row, SourceRead)} == {SAID}


def test_an_address_that_the_cluster_file_names_is_dialled(dialled, monkeypatch):
    cluster = Cluster(name="c", bootstrap=(f"{LINK_LOCAL}:9092",), reach={"b.example:9092": f"{LINK_LOCAL}:9093"})
    rows = asked(target(LINK_LOCAL), Budget(cluster))
    assert {address[0] for address in dialled} == {LINK_LOCAL}
    assert steps(rows)[-1][:2] == ("tcp", "failed")
    dialled.clear()
    asked(target("b.example", via=f"{LINK_LOCAL}:9093"), Budget(cluster))
    assert {address[1] for address in dialled} == {9093}
    dialled.clear()
    with resolving(monkeypatch, b_example=LINK_LOCAL):
        asked(target("b.example"), Budget(cluster))
    assert dialled == [], "a name in the file may mean anything by now"
    asked(target(LINK_LOCAL, 80), Budget(cluster))
    assert dialled == [], "another port of it is not named"


STRICT = Limits(read_s=300.0, audit_s=600.0, dial_untrusted=False)
NOT_TRUSTED = "not dialled: not in the cluster file and not in its trusted_hosts"


def asked_strictly(endpoint, **described):
    cluster = Cluster(name="c", limits=STRICT, **described)
    options = ClientOptions(read_s=300.0, budget=Budget(cluster), logins=ClusterLogins(cluster, {}))
    return BrokerAsker([endpoint], 1, options, ViewBook()).ask().rows


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.5", "::1", "b.internal"])
def test_where_the_cluster_file_says_so_only_addresses_that_it_names_or_trusts_are_dialled(dialled, host):
    rows = asked_strictly(target(host), bootstrap=("127.0.0.1:9093",), trusted_hosts=("*.kafka.example", "10.1.0.0/16"))
    assert dialled == []
    assert steps(rows) == [("dns", "unknown", NOT_TRUSTED)]
    reads = {(row.outcome, row.error, row.needs) for row in rows if isinstance(row, SourceRead)}
    assert reads == {("failed", NOT_TRUSTED, f'trusted_hosts: ["{host}"]')}


@pytest.mark.parametrize("described", ["bootstrap", "trusted_hosts", "reach"])
def test_what_it_names_or_trusts_is_read_as_ever(dialled, described):
    with server(FakeBroker(0)) as (host, port):
        named = {"bootstrap": (f"{host}:{port}",), "trusted_hosts": ("127.0.0.0/8",), "reach": {"b.internal:1": f"{host}:{port}"}}
        endpoint = target("b.internal", 1, via=f"{host}:{port}") if described == "reach" else target(host, port)
        rows = asked_strictly(endpoint, **{described: named[described]})
    assert steps(rows)[-1][:2] == ("packets", "ok")
    assert {address[:2] for address in dialled} == {(host, port)}


@pytest.mark.parametrize("vantage", [Vantage(name="v", command=("false",)), Vantage(name="v", queue="dmz")])
def test_no_vantage_gets_another_one(vantage):
    cluster = Cluster(name="c", limits=STRICT, vantages=(vantage,))
    logins, endpoint = ClusterLogins(cluster, {}), target("10.0.0.5")
    if vantage.queue is None:
        (run,) = command_vantages.runs(cluster, 1, [endpoint], [0], logins)
        rows = run.rows()
    else:
        rows = QueueAnswer(endpoints=(), samples=("", "")).rows(vantage, 1, [endpoint], (), logins)
    assert steps(rows) == [("dns", "unknown", NOT_TRUSTED)]


def test_a_conversation_alone_refuses_as_well(dialled):
    with pytest.raises(ReadError, match=SAID), Conversation(LINK_LOCAL, 9092, ClientOptions(read_s=300.0)):
        pass
    assert dialled == []


def test_a_zookeeper_whose_name_means_one_is_not_dialled(dialled, monkeypatch):
    access = ZookeeperAccess(connect="zk.example:2181")
    with resolving(monkeypatch, zk_example=LINK_LOCAL):
        budget = Budget(Cluster(name="c", zookeeper=access, limits=Limits(audit_s=4)))
        rows = zookeeper_view.read_zookeeper(access, 1, {}, read_s=1.0, deadline=budget.deadline, budget=budget).rows
    assert dialled == []
    assert {row.error for row in rows if isinstance(row, SourceRead)} == {SAID}


def test_a_vantage_with_python_does_not_dial_it():
    """Its own connect is replaced, so that even a broken script dials nothing."""
    text = python_text([target(LINK_LOCAL), target("127.0.0.1", 1)], 1.0, NOBODY)
    guard = "def refuse(self, address):\n    raise OSError(22, 'dialled ' + address[0])\n"
    guard = f"import socket\n{guard}socket.socket.connect = refuse\n"
    completed = subprocess.run(["python3", "-"], input=guard + text, capture_output=True, text=True, check=True)
    found = command_vantages.parse_probe_output(completed.stdout, [target(LINK_LOCAL), target("127.0.0.1", 1)])
    assert found[0][-1][:3] == ("tcp", "unknown", SAID)
    assert found[1][-1].error == "dialled 127.0.0.1"


@pytest.mark.parametrize("host", [LINK_LOCAL, "2852039166", "0xa9fea9fe", "fe80::1"])
def test_a_vantage_with_bash_does_not_dial_it(host):
    """In a network of its own without any way out, so that even a broken script dials nothing."""
    text = bash_text([target(host)], 1.0)
    completed = subprocess.run(["unshare", "-rn", "bash", "-s"], input=text, capture_output=True, text=True, check=False)
    if "unshare" in completed.stderr:
        pytest.skip("no namespaces here")
    (found,) = command_vantages.parse_probe_output(completed.stdout, [target(host)]).values()
    assert [step[:3] for step in found] == [("dns", "ok", None), ("tcp", "unknown", SAID)]
    assert found[-1].needs == MEANT


def test_a_vantage_with_bash_dials_what_it_looked_at(tmp_path):
    """A resolver that answers a second query with another address: there is no second query."""
    (tmp_path / "getent").write_text(f"#!/bin/sh\necho >>{tmp_path}/asked\necho '127.0.0.1 STREAM broker.example'\n")
    (tmp_path / "getent").chmod(0o755)
    with server(FakeBroker(5)) as (_, port):
        endpoint = target("broker.example", port)
        completed = subprocess.run(
            ["env", f"PATH={tmp_path}:/usr/bin:/bin", "bash", "-s"],
            input=bash_text([endpoint], 2.0), capture_output=True, text=True, check=True,
        )  # fmt: skip
    (found,) = command_vantages.parse_probe_output(completed.stdout, [endpoint]).values()
    assert found[-1][:4] == ("identity", "ok", None, "5")
    assert (tmp_path / "asked").read_text() == "\n"


def test_bash_without_a_resolver_to_ask_does_not_guess(tmp_path):
    for name in ("bash", "sort"):
        (tmp_path / name).symlink_to(f"/usr/bin/{name}")
    endpoint = target("broker.example")
    completed = subprocess.run(
        ["env", f"PATH={tmp_path}", "bash", "-s"], input=bash_text([endpoint], 1.0), capture_output=True, text=True, check=True
    )
    (found,) = command_vantages.parse_probe_output(completed.stdout, [endpoint]).values()
    assert [(step.layer, step.outcome, step.needs) for step in found] == [("dns", "unknown", "getent or python3")]


def test_a_vantage_dials_what_the_cluster_file_names(monkeypatch):
    seen = []
    monkeypatch.setattr(sockets, "connect", lambda *arguments: seen.append(arguments))
    monkeypatch.setattr(probe_script, "connect", lambda addresses, *_: seen.append(addresses) or pytest.fail("dialled"))
    script_input = command_vantages.asked([target(LINK_LOCAL)], NOBODY, {(LINK_LOCAL, 9092)})
    with pytest.raises(pytest.fail.Exception):
        probe_script.EndpointProbe(*_walk(script_input)).go(["dns", "tcp"], 1.0)
    assert seen[0][0][1][0] == LINK_LOCAL
    out = io.StringIO()
    probe_script.probe_all(command_vantages.asked([target(LINK_LOCAL)], NOBODY), 1.0, out)
    assert "not dialled" in out.getvalue()
    assert " named &" in bash_text([target(LINK_LOCAL)], 1.0, {(LINK_LOCAL, 9092)})
    assert " named &" not in bash_text([target(LINK_LOCAL)], 1.0)


def _walk(given):
    host, port, _, name, _trust, mechanism, named = given["targets"][0]
    return host, port, (name, UNVERIFIED), mechanism, named


def test_a_step_that_was_not_taken_is_what_the_reads_say():
    step = endpoint_probes.ProbeStep("tcp", "unknown", SAID, None, MEANT, 0)
    assert str(endpoint_probes.read_error_of_probe(step, f"{LINK_LOCAL}:9092")) == f"{SAID}: tcp to {LINK_LOCAL}:9092: {SAID}"
