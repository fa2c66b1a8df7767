"""Salted passwords: computed once for an audit, outside of event loops, and with a limit on their number."""

import asyncio
import hashlib
import threading
import time

import pytest
from kafka.net.sasl import scram

from clients.auditor import PASSWORD, SECRETS, ask, login
from collect.taken import target
from hostile_parties.broker import HostileBroker
from kafka_audit.clients import login_attempts, sasl, scram_keys
from kafka_audit.clients.credentials import ClusterLogins
from kafka_audit.clients.scram_keys import MOST_AT_ADDRESS, MOST_IN_AUDIT, USUAL_ITERATIONS, SaltedPasswords, ScramKeys
from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import SourceRead
from kafka_audit.watch.reader import Reader

MECHANISM = "SCRAM-SHA-512"
LOGIN = login(MECHANISM, "SASL_PLAINTEXT")


@pytest.fixture
def computed(monkeypatch):
    """What was computed: (main thread, iterations) each."""
    found = []

    def pbkdf2_hmac(name, password, salt, iterations):
        found.append((threading.current_thread() is threading.main_thread(), iterations))
        return hashlib.pbkdf2_hmac(name, password, salt, iterations)

    fake = type("hashlib", (), {"pbkdf2_hmac": staticmethod(pbkdf2_hmac)})
    monkeypatch.setattr(scram_keys, "hashlib", fake)
    monkeypatch.setattr(scram.hashlib, "pbkdf2_hmac", hashlib.pbkdf2_hmac)
    monkeypatch.setattr(login_attempts, "PATIENCE_S", 600.0)  # a busy machine computes for longer than others wait for it
    return found


def keys(salted, address="b1:9092"):
    return ScramKeys(salted=salted, address=address, mechanism=MECHANISM, password=PASSWORD)


def refused(*arguments, **options):
    with pytest.raises(sasl.ScramError) as caught:
        keys(*arguments, **options).compute(b"salt" * 4, sasl.MOST_ITERATIONS)
    return caught.value.failure, caught.value.words


def test_one_credential_is_computed_once_for_all_brokers(computed):
    salted = SaltedPasswords()
    found = {keys(salted, f"b{number}:9092").compute(b"salt", 4096) for number in range(100)}
    assert found == {hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), b"salt", 4096)}
    assert computed == [(True, 4096)]
    assert PASSWORD not in repr(keys(salted))


def test_an_address_that_asks_for_another_salt_with_each_login_is_refused(computed):
    salted = SaltedPasswords()
    for number in range(MOST_AT_ADDRESS // sasl.MOST_ITERATIONS):
        keys(salted).compute(bytes([number]), sasl.MOST_ITERATIONS)
    error, words = refused(salted)
    assert (error, "its SCRAM parameters differ from login to login" in words) == (ReadFailure.SCRAM_NOT_VERIFIED, True)
    keys(salted).compute(b"\0", sasl.MOST_ITERATIONS)  # what is known costs nothing
    keys(salted, "b2:9092").compute(b"other", 4096)
    assert sum(iterations for _, iterations in computed) <= MOST_AT_ADDRESS + 4096


def test_many_addresses_together_cost_an_audit_no_more_than_its_bound_and_usual_credentials_are_not_touched(monkeypatch):
    spent = []
    monkeypatch.setattr(
        scram_keys.hashlib, "pbkdf2_hmac", lambda _name, _password, _salt, iterations: spent.append(iterations) or b"x"
    )
    salted = SaltedPasswords()
    errors = 0
    for number in range(200):
        try:
            keys(salted, f"b{number}:9092").compute(bytes([number]), sasl.MOST_ITERATIONS)
        except sasl.ScramError:
            errors += 1
    assert sum(spent) == MOST_IN_AUDIT
    assert errors == 200 - len(spent) > 0
    for number in range(200):
        keys(salted, f"honest{number}:9092").compute(b"honest" + bytes([number]), USUAL_ITERATIONS)


class Watched:
    """Many ids at one address that the cluster file names, behind which SCRAM takes as many iterations as are taken."""

    def __init__(self, broker, ids):
        broker.iterations = sasl.MOST_ITERATIONS
        broker.brokers = dict.fromkeys(range(ids), (broker.host, broker.port))
        self.cluster = Cluster(name="c", bootstrap=(broker.address,), security=LOGIN, limits=Limits(read_s=300.0))
        self.ticks = 0

    async def _tick(self):
        while True:
            await asyncio.sleep(0.005)
            self.ticks += 1

    def read(self, times, between=lambda: None):
        async def readings():
            reader, found, ticking = Reader(self.cluster, {"AUDITOR": PASSWORD}), [], asyncio.create_task(self._tick())
            for _ in range(times):
                found.append(await reader.read(found[-1].endpoints if found else {}))
                between()
            ticking.cancel()
            return found

        return asyncio.run(readings())


def test_the_watch_proves_itself_once_at_an_address_and_reading_and_computes_on_no_event_loop(computed):
    with HostileBroker(0, mechanisms=(MECHANISM,), users={"auditor": PASSWORD}) as broker:
        watched, proofs = Watched(broker, 20), []

        def count():
            proofs.append(sum(",p=" in message for message in broker.scram_messages))
            broker.scram_messages.clear()

        first, second = watched.read(2, count)
    assert [sum(broker.metadata.answered for broker in reading.brokers) for reading in (first, second)] == [20, 20]
    assert proofs == [1, 1]
    assert len(computed) == 2  # the fake's salt is another with each login
    assert not any(on_loop for on_loop, _ in computed)


def test_a_loop_goes_on_while_scram_is_computed(monkeypatch):
    """What computes ends when the loop has gone round again; on the loop it would never end."""
    computed = []

    def pbkdf2_hmac(*_):
        begun = watched.ticks
        while watched.ticks < begun + 3:
            time.sleep(0.001)
        computed.append(watched.ticks - begun)
        return b"x" * 64

    monkeypatch.setattr(scram_keys.hashlib, "pbkdf2_hmac", pbkdf2_hmac)
    with HostileBroker(0, mechanisms=(MECHANISM,), users={"auditor": PASSWORD}) as broker:
        broker.salt = b"constant"
        watched = Watched(broker, 1)
        watched.read(1)
    assert computed


def test_an_audit_reads_a_broker_whose_credential_takes_the_most_iterations(computed):
    """The healthy twin: a credential that another tool made, with one salt."""
    with HostileBroker(0, mechanisms=(MECHANISM,), users={"auditor": PASSWORD}) as broker:
        broker.iterations, broker.salt = sasl.MOST_ITERATIONS, b"constant"
        logins = ClusterLogins(Cluster(name="c", bootstrap=(broker.address,), security=LOGIN), SECRETS)
        for _ in range(5):
            rows = ask(target((broker.host, broker.port), protocol="SASL_PLAINTEXT"), None, logins=logins)
            assert {row.outcome for row in rows if isinstance(row, SourceRead)} == {"answered"}
    assert [iterations for _, iterations in computed] == [sasl.MOST_ITERATIONS]
