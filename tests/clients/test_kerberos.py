"""Kerberos tickets: what is said of each fault, and that a KDC holds up nothing. `test_kerberos_real.py` has a real one."""

import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from kafka_audit.clients import kerberos
from kafka_audit.clients.credentials import ListenerSecurity
from kafka_audit.clients.kerberos import Tickets
from kafka_audit.clients.protocol.kafka_errors import as_read_error
from kafka_audit.clients.read_error import ReadError


class GSSError(Exception):
    """The error of the package gssapi."""

    def __init__(self, code=0, text="", major=13 << 16):
        super().__init__(text)
        self.maj_code, self.min_code, self._text = major, 0x96C73A00 + code, text

    def get_all_statuses(self, _code, _is_major):
        return [self._text]


class FakeLibrary:
    """A package gssapi that answers as it is told, and notes for which services."""

    def __init__(self, monkeypatch):
        self.answer, self.asked = lambda: b"ticket", []
        exceptions = ModuleType("gssapi.exceptions")
        exceptions.GSSError = GSSError
        library = ModuleType("gssapi")
        library.exceptions = exceptions
        library.NameType = SimpleNamespace(hostbased_service="hostbased")
        library.MechType = SimpleNamespace(kerberos="krb5")
        library.Name = lambda text, name_type: SimpleNamespace(canonicalize=lambda _: (text, name_type))
        library.SecurityContext = self._context
        monkeypatch.setitem(sys.modules, "gssapi", library)
        monkeypatch.setitem(sys.modules, "gssapi.exceptions", exceptions)

    def _context(self, *, name, usage):
        assert usage == "initiate"
        self.asked.append(name[0])
        return SimpleNamespace(step=lambda _: self.answer())

    def fail(self, *args, **kwargs):
        def answer():
            raise GSSError(*args, **kwargs)

        self.answer = answer


@pytest.fixture
def library(monkeypatch):
    return FakeLibrary(monkeypatch)


def refused(tickets, seconds=600.0):
    with pytest.raises(ReadError) as caught:
        tickets.request("b1.corp", seconds)
    assert caught.value.error == "no Kerberos ticket"
    return caught.value.message, caught.value.needs


def test_a_ticket_is_requested_for_the_broker_s_host(library):
    Tickets().request("b1.corp", 600.0)
    assert library.asked == ["kafka@b1.corp"]


FAULTS = {
    "no ticket": (141, "No Kerberos credentials available (default cache: FILE:/tmp/krb5cc_0)", "kinit, or KRB5_CLIENT_KTNAME"),
    "no principal of the auditor": (6, "Client 'auditor@CORP' not found in Kerberos database", "a principal that the KDC knows"),
    "no principal of the broker": (
        7,
        "Server kafka/b1.corp@CORP not found in Kerberos database",
        "a principal kafka/HOST in the KDC",
    ),
    "an old keytab": (24, "Preauthentication failed", "a keytab with the current key"),
    "clocks": (37, "Clock skew too great", "clocks of this worker and the KDC"),
    "no realm": (154, 'Cannot find KDC for realm "CORP"', "the realm and its KDC in krb5.conf"),
}


@pytest.mark.parametrize(("code", "text", "needs"), FAULTS.values(), ids=FAULTS)
def test_a_fault_has_the_words_of_the_library_and_what_would_help(library, code, text, needs):
    library.fail(code, text)
    message, needed = refused(Tickets())
    assert message == text
    assert needs in needed


def test_a_ticket_that_has_expired_is_named_whatever_the_minor_status_is(library):
    library.fail(0, "Ticket expired", major=11 << 16)
    message, needs = refused(Tickets())
    assert message == "Ticket expired"
    assert needs.startswith("a ticket that is valid: kinit")


def test_a_kdc_that_does_not_answer_is_asked_again_after_a_while_and_holds_up_no_other_broker(library, monkeypatch):
    tickets, end, asked = Tickets(), threading.Event(), threading.Event()
    library.answer = lambda: asked.set() or end.wait()
    monkeypatch.setattr(kerberos, "RETRY_S", 600.0)
    assert refused(tickets, seconds=0.3) == ("no answer of the KDC for 0.3 s", kerberos._KDC)
    for _ in range(20):
        refused(tickets)  # none of them waits for 600 s
    asked.wait()
    assert len(library.asked) == 1
    end.set()
    monkeypatch.setattr(kerberos, "RETRY_S", 0.0)
    library.answer = lambda: b"ticket"
    tickets.request("b1.corp", 600.0)


def test_a_broker_without_a_principal_says_nothing_of_the_others(library):
    tickets = Tickets()
    library.fail(7, "Server kafka/b1.corp@CORP not found in Kerberos database")
    refused(tickets)
    library.answer = lambda: b"ticket"
    tickets.request("b2.corp", 600.0)


@pytest.mark.usefixtures("library")
def test_a_ticket_that_ends_during_the_audit_is_no_refusal_by_the_broker():
    with pytest.raises(ReadError) as caught, as_read_error(ListenerSecurity(needs="another ticket")):
        raise GSSError(0, "Ticket expired", 11 << 16)
    assert (caught.value.error, caught.value.message) == ("no Kerberos ticket", "Ticket expired")


def test_without_the_package_the_read_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(ReadError) as caught:
        Tickets().request("b1.corp", 600.0)
    assert caught.value.error == "not supported"
    assert "pip install 'kafka-audit[kerberos]'" in caught.value.needs
