"""Each address of a name is probed, within the time of one probe; a name with one address has no rows of this kind."""

import socket
from contextlib import ExitStack

import pytest

from collect.fakes import FakeBroker, server, silent
from collect.secured_fakes import SecuredBroker
from collect.taken import target
from kafka_audit.clients import probe_script
from kafka_audit.clients.budget import Budget
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.collect.probes import command_vantages, endpoint_probes
from kafka_audit.model.cluster import Cluster, Security
from kafka_audit.model.tables import AddressProbe, Probe

NAME = "k.example"
SECONDS = 60.0


class Behaves:
    """Listens at several addresses of loopback, on one port."""

    def __init__(self, monkeypatch):
        self._stack = ExitStack()
        self._monkeypatch = monkeypatch
        self.port = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stack.close()

    def at(self, address, behave):
        listener = self._stack.enter_context(server(behave, host=address, port=self.port or 0))
        self.port = listener[1]

    def resolve(self, *addresses):
        """Let the name have these addresses, in this order."""
        infos = [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, self.port))
            for address in addresses
        ]
        real = socket.getaddrinfo
        self._monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more: infos if host == NAME else real(host, *more))

    def rows(self, *, protocol="PLAINTEXT", security=None, seconds=SECONDS):
        where = target((NAME, self.port), 1, protocol=protocol)
        logins = ClusterLogins(Cluster(name="c", bootstrap=(f"{NAME}:{self.port}",), security=security or Security()), {})
        steps = endpoint_probes.probe_from_here(where, seconds, logins, Budget(), thorough=True)
        return endpoint_probes.worker_rows(1, where, steps, logins)


@pytest.fixture
def loopback(monkeypatch):
    with Behaves(monkeypatch) as made:
        yield made


def addresses(rows):
    return [(row.address, row.layer, row.outcome, row.error, row.answered_by) for row in rows if isinstance(row, AddressProbe)]


def layers(rows):
    return [row.layer for row in rows if isinstance(row, Probe)]


def test_a_name_with_one_address_has_no_rows(loopback):
    loopback.at("127.0.0.1", FakeBroker(1))
    loopback.resolve("127.0.0.1", "127.0.0.1")
    assert addresses(loopback.rows()) == []


def test_a_dead_address_and_another_brokers_have_a_row_each(loopback):
    loopback.at("127.0.0.1", FakeBroker(1))
    loopback.at("127.0.0.2", FakeBroker(2))
    loopback.resolve("127.0.0.1", "127.0.0.2", "127.0.0.3")
    rows = loopback.rows()
    assert addresses(rows) == [
        ("127.0.0.1", "api", "ok", None, None),
        ("127.0.0.2", "identity", "ok", None, 2),
        ("127.0.0.3", "tcp", "failed", "connection refused", None),
    ]
    assert layers(rows) == ["dns", "tcp", "api", "packets"], "the probe of the endpoint is one, whatever addresses there are"


def test_the_first_address_is_dead(loopback):
    loopback.at("127.0.0.2", FakeBroker(1))
    loopback.resolve("127.0.0.1", "127.0.0.2")
    assert addresses(loopback.rows()) == [
        ("127.0.0.2", "api", "ok", None, None),
        ("127.0.0.1", "tcp", "failed", "connection refused", None),
    ]


def test_one_who_is_anonymous_here_alone_is_not_asked_for_rights(loopback):
    """With a login elsewhere, ANONYMOUS should need no right for an audit, and a refusal is a line in a log."""
    brokers = [FakeBroker(1), FakeBroker(1)]
    for number, broker in enumerate(brokers, start=1):
        loopback.at(f"127.0.0.{number}", broker)
    loopback.resolve("127.0.0.1", "127.0.0.2")
    rows = loopback.rows(security=Security(protocol="SASL_PLAINTEXT", mechanism="PLAIN"))
    assert addresses(rows) == [("127.0.0.1", "api", "ok", None, None), ("127.0.0.2", "api", "ok", None, None)]
    assert [broker.asked(32) for broker in brokers] == [[], []]


def test_behind_a_login_each_address_offers_its_mechanisms(loopback):
    brokers = [SecuredBroker(1), SecuredBroker(1)]
    for number, broker in enumerate(brokers, start=1):
        loopback.at(f"127.0.0.{number}", broker)
    loopback.resolve("127.0.0.1", "127.0.0.2")
    rows = loopback.rows(protocol="SASL_PLAINTEXT", security=Security(protocol="SASL_PLAINTEXT", mechanism="PLAIN"))
    assert addresses(rows) == [("127.0.0.1", "api", "ok", None, None), ("127.0.0.2", "api", "ok", None, None)]
    assert [broker.logins for broker in brokers] == [[], []]


def test_all_together_take_the_time_of_one_probe(loopback, monkeypatch):
    go, shares = probe_script.EndpointProbe.go, []
    monkeypatch.setattr(probe_script.EndpointProbe, "go", lambda *given: (shares.append(given[2]), go(*given)))
    loopback.at("127.0.0.1", FakeBroker(1))
    silent_ones = [f"127.0.0.{number}" for number in range(2, 30)]
    for host in silent_ones:
        loopback.at(host, silent)
    loopback.resolve("127.0.0.1", *silent_ones)
    found = addresses(loopback.rows(seconds=4.0))
    of_all, *of_each = shares
    assert sum(of_each) <= of_all == 4.0
    assert len(found) == 8
    assert {row[1:4] for row in found[1:]} == {("api", "failed", "timeout")}


def test_an_address_that_drops_leaves_the_others_their_time(loopback, monkeypatch):
    loopback.at("127.0.0.2", FakeBroker(1))
    loopback.resolve("127.0.0.1", "127.0.0.2")
    connect, waited = socket.socket.connect, []

    def dropping(sock, address):
        if address[0] == "127.0.0.1":
            waited.append(sock.gettimeout())  # they are not slept here
            raise TimeoutError
        connect(sock, address)

    monkeypatch.setattr(socket.socket, "connect", dropping)
    rows = loopback.rows()
    assert waited[0] <= SECONDS / 2
    assert layers(rows)[:3] == ["dns", "tcp", "api"]
    assert ("127.0.0.1", "tcp", "failed", "timeout", None) in addresses(rows)


def test_lines_of_a_vantage_become_rows_of_one_endpoint():
    where = target((NAME, 9092), 1)
    lines = ["dns\tok\t\t10.0.0.1,10.0.0.2\t", "tcp\tok\t\t\t", "api\tok\t\t2 APIs\t", "address\tok\t\t10.0.0.1 identity 1\t"]
    lines += ["address\tfailed\tREFUSED\t10.0.0.2 tcp\t", "address\tfailed\tREFUSED\t$(touch x) tcp\t", "address\tok\t\t\t"]
    lines += ["address\tfailed\tREFUSED\t10.0.0.9 tcp\t"] * 1000
    text = "\n".join(f"kafka-audit\t0\t{line}\t1" for line in lines)
    (steps,) = command_vantages.parse_probe_output(text, [where]).values()
    rows = endpoint_probes.probe_rows(1, endpoint_probes.FROM_WORKER, where, steps)
    assert addresses(rows)[:2] == [
        ("10.0.0.1", "identity", "ok", None, 1), ("10.0.0.2", "tcp", "failed", "connection refused", None),
    ]  # fmt: skip
    assert len(rows) < 30
    assert layers(rows) == ["dns", "tcp", "api"]
