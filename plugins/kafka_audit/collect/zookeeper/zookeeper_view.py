"""Ask ZooKeeper: registrations, controller, topics, partition states, and each server by four-letter words, with deadlines."""

import base64
import re
import ssl
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.failures import of_error, of_report
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.sockets import Failure
from kafka_audit.clients.targets import ZOOKEEPER_LISTENER
from kafka_audit.clients.tls import TlsAccess, zookeeper_context
from kafka_audit.clients.zookeeper.four_letter_words import ask_word
from kafka_audit.clients.zookeeper.session import Session, open_session
from kafka_audit.collect.probes.certificates import certificate_row
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper.earlier_topics import EarlierTopics
from kafka_audit.collect.zookeeper.znode_reads import DecodedZnodes
from kafka_audit.collect.zookeeper.znode_sample import IDS, PLANNED, ZnodeSample
from kafka_audit.compare.connect_strings import servers_of
from kafka_audit.model.cluster import WORKER, ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Registry, Row, ZookeeperMember

WORD = "srvr"  # the only one that is allowed by default since ZooKeeper 3.5
WHITELIST = "4lw.commands.whitelist"
_LANES = 16
_CLOSED = "closed"
_LINE = re.compile(r"^([A-Za-z /]{1,40}): (.{1,300})$", re.MULTILINE)
_DECIMAL = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,20})?(?:E[0-9]{1,2})?", re.ASCII)  # as Java writes a double
_LATENCY = "Latency min/avg/max"
_LONG, _HEXADECIMAL, _MOST_DIGITS = 2**63, 16, 19


def read_servers(  # noqa: PLR0913 -- one of them where there is an audit
    access: ZookeeperAccess,
    sample: int,
    read_s: float,
    *,
    known: bool,
    budget: Budget | None = None,
    tls: TlsAccess | None = None,
) -> tuple[Row, ...]:
    """Return a `ZookeeperMember` and a `SourceRead` row for each server.

    That a server gives no connection is an answer to the question whether it serves, where the ensemble is known to be there;
    that it may not be asked is none.

    Args:
        access: connection string and TLS.
        sample: number of this sample.
        read_s: bound of each server, in seconds.
        known: a session with one of them was had.
        budget: bound of all.
        tls: how TLS is opened, where `access` says that it is used.
    """
    context = zookeeper_context(access, tls)
    places = servers_of(access.connect)
    own_budget = (budget or Budget()).part((read_s + 1) * (1 + len(places) // _LANES))
    jobs = [partial(_member, context, sample, (host, port), read_s, own_budget) for host, port in places]
    rows: list[Row] = []
    for (host, port), answer in zip(places, side_by_side(jobs, _LANES, own_budget.deadline), strict=True):
        name = f"{host}:{port}"
        if isinstance(answer, ReadError):
            rows.append(
                Asking(sample=sample, observer=f"zookeeper@{clean_line(name)}", target=clean_line(name)).failed(WORD, answer)
            )
            continue
        member, odd, shown = answer or (_down(sample, name, ReadFailure.TIMEOUT), [], None)
        rows += [member, _asked(member, odd, known=known)]
        if shown is not None:
            rows += _certificate(shown, sample, host, port)
    return tuple(rows)


def _asked(member: ZookeeperMember, odd: Sequence[str], *, known: bool) -> Row:
    asking = Asking(sample=member.sample, observer=f"zookeeper@{clean_line(member.member)}", target=clean_line(member.member))
    if member.state == _CLOSED:
        needs = f"{WORD} in {WHITELIST} of {clean_line(member.member)}"
        return asking.failed(WORD, ReadError(ReadFailure.NOT_AUTHORIZED, member.error, needs, error="NoAuth"))
    if member.state == "down" and not known:
        needs = f"a ZooKeeper server that answers at {clean_line(member.member)}"
        return asking.failed(WORD, ReadError(ReadFailure.of(member.reason, member.error), None, needs, error=member.error))
    if odd:
        needs = f"a ZooKeeper server that answers {WORD} at {clean_line(member.member)}"
        return asking.failed(WORD, ReadError(ReadFailure.MALFORMED_ANSWER, "; ".join(odd), needs))
    return asking.answered(WORD)


def _certificate(shown: bytes, sample: int, host: str, port: int) -> Sequence[Row]:
    """Return the row of a server's certificate; the handshake has verified it."""
    found = certificate_row(
        base64.b64encode(shown).decode(),
        sample=sample,
        vantage=WORKER,
        broker_id=-1,
        listener=ZOOKEEPER_LISTENER,
        host=host,
        port=port,
        trusted=True,
        error=None,
    )
    return () if found is None else (found,)


def _member(
    context: ssl.SSLContext | None, sample: int, place: tuple[str, int], read_s: float, budget: Budget
) -> tuple[ZookeeperMember, Sequence[str], bytes | None]:
    """Return a server's row, what of its answer is not what ZooKeeper writes, and the certificate that it presented."""
    name = "{}:{}".format(*place)
    try:
        text, shown = ask_word(WORD, *place, context, budget.part(read_s))
    except Failure as error:
        return _down(sample, name, *of_report(str(error))), (), None
    except OSError as error:
        return _down(sample, name, *of_error(error)), (), None
    except (UnicodeError, OverflowError):
        return _down(sample, name, ReadFailure.NO_HOST), (), None
    return *_answering(text, sample, name), shown


def _answering(text: str, sample: int, name: str) -> tuple[ZookeeperMember, Sequence[str]]:
    if "not in the whitelist" in text:
        return _down(sample, name, ReadFailure.NOT_AUTHORIZED, f"{WORD} is not in its {WHITELIST}", _CLOSED), ()
    if "not currently serving requests" in text:
        return _down(sample, name, ReadFailure.NOT_SERVING, state="idle"), ()
    if "Mode:" not in text:
        return _down(sample, name, ReadFailure.NOT_ZOOKEEPER), ()
    return parse_server_answer(text, sample, name), odd_parts(text)


def parse_server_answer(text: str, sample: int, member: str) -> ZookeeperMember:
    """Return what an answer to srvr says; what of it cannot be read is None."""
    reported = _fields(text)
    latency = _latency(reported)
    return ZookeeperMember(
        sample=sample,
        member=member,
        state="serving",
        error=None,
        mode=clean_line(masked(reported.get("Mode", "")), 40) or None,
        zxid=_whole(reported.get("Zxid", ""), 16),
        outstanding=_whole(reported.get("Outstanding", "")),
        latency_avg_ms=_number(latency[1]),
        latency_max_ms=_number(latency[2]),
        connections=_whole(reported.get("Connections", "")),
        znodes=_whole(reported.get("Node count", "")),
        version=clean_line(masked(reported.get("Zookeeper version", "").partition("-")[0].partition(",")[0]), 40) or None,
    )


def odd_parts(text: str) -> list[str]:
    """Return the numbers of an answer to srvr that no ZooKeeper writes, each with its name."""
    reported = _fields(text)
    numbers = {name: reported[name] for name in ("Zxid", "Outstanding", "Connections", "Node count") if name in reported}
    odd: list[str] = [name for name, number in numbers.items() if _whole(number, 16 if name == "Zxid" else 10) is None]
    if _LATENCY in reported and None in map(_number, _latency(reported)):
        odd.append(_LATENCY)
    return [f"{name} is {clean_line(reported[name], 40)}" for name in odd]


def _fields(text: str) -> dict[str, str]:
    return dict(_LINE.findall(text))


def _latency(reported: Mapping[str, str]) -> list[str]:
    return (reported.get(_LATENCY, "").split("/") + [""] * 3)[:3]


def _whole(text: str, base: int = 10) -> int | None:
    """Return a number that a column holds; a zxid is a Java long, and none was ever below zero."""
    digits, number = "0123456789abcdef"[:base], text.removeprefix("0x") if base == _HEXADECIMAL else text
    if not 0 < len(number) <= _MOST_DIGITS or not all(digit in digits for digit in number.lower()):
        return None
    value = int(number, base)
    return value if value < _LONG else None


def _number(text: str) -> float | None:
    return float(text) if _DECIMAL.fullmatch(text) else None


def _down(sample: int, member: str, failure: ReadFailure, error: str | None = None, state: str = "down") -> ZookeeperMember:
    return ZookeeperMember(
        sample=sample,
        member=member,
        state=state,
        error=error or failure.words,
        reason=failure.name,
        mode=None,
        zxid=None,
        outstanding=None,
        latency_avg_ms=None,
        latency_max_ms=None,
        connections=None,
        znodes=None,
        version=None,
    )


_SESSION_SHARE = 0.8
_HINTS = 50  # children of / that are searched for a Kafka chroot if the chroot is wrong


def read_zookeeper(  # noqa: PLR0913 -- one of them where there is an audit
    access: ZookeeperAccess,
    sample: int,
    secrets: Mapping[str, str],
    *,
    read_s: float,
    deadline: float,
    budget: Budget | None = None,
    earlier: DecodedZnodes | None = None,
    tls: TlsAccess | None = None,
    topics: EarlierTopics | None = None,
) -> Collected:
    """Return all data of ZooKeeper, and a `SourceRead` row for each set of znodes and each failure.

    Args:
        access: connection string, with chroot.
        sample: number of this sample.
        secrets: environment that holds the password named by `access`.
        read_s: bound of the connection and of each request, in seconds.
        deadline: bound of the whole sample, including the last read of each server, of `time.monotonic()`.
        budget: the audit's.
        earlier: what earlier samples of the audit decoded.
        tls: how TLS is opened, where `access` says that it is used.
        topics: of the earlier sample, if only some are to be read again.

    Raises:
        UsageError: ZooKeeper answers, but there is no /brokers/ids below the chroot.
    """
    asking = Asking(sample=sample, observer="zookeeper", target=access.connect)
    whole = (budget or Budget()).part(max(0.0, deadline - time.monotonic()))
    # The servers are asked one by one afterwards: some of the time is theirs, whatever the session took.
    own_budget = whole.part(max(whole.left() - read_s - 1, whole.left() * _SESSION_SHARE))
    try:
        with any_answer(), open_session(access, read_s, secrets, own_budget, tls) as session:
            _demand_kafka(session, access, own_budget.demand_time(read_s))
            collected = ZnodeSample(session, asking, read_s, own_budget.deadline, own_budget, earlier, topics).take()
    except ReadError as error:
        collected = Collected(rows=tuple(asking.failed(f"zookeeper {path}", error) for path in PLANNED))
    known = any(isinstance(row, Registry) for row in collected.rows)
    members = read_servers(access, sample, read_s, known=known, budget=whole, tls=tls)
    return replace(collected, rows=(*collected.rows, *members))


def read_control(
    access: ZookeeperAccess, secrets: Mapping[str, str], *, read_s: float, budget: Budget, tls: TlsAccess | None
) -> tuple[Row, ...]:
    """Return brokers, controller, cluster id and the reads of them, and nothing that grows with topics. See `read_zookeeper`.

    Raises:
        ReadError: there is no session.
        UsageError: the connection string cannot be read.
    """
    asking = Asking(sample=1, observer="zookeeper", target=access.connect)
    with any_answer(), open_session(access, read_s, secrets, budget, tls) as session:
        return ZnodeSample(session, asking, read_s, budget.deadline, budget).control()


def _demand_kafka(session: Session, access: ZookeeperAccess, read_s: float) -> None:
    """Raise UsageError if no Kafka has ever registered: a wrong chroot has the symptoms of a cluster without brokers."""
    client = session.client
    try:
        if client.exists_async(IDS).get(timeout=read_s) is not None:
            return
    except (KazooException, KazooTimeoutError) as error:
        raise session.as_read_error(error, IDS) from error
    chroot = client.chroot or "/"
    hint = _kafkas(client, access.connect.partition("/")[0], read_s)
    msg = f"zookeeper {access.connect}: there is no {IDS} below the chroot {chroot}{hint}"
    raise UsageError(msg)


def _kafkas(client: KazooClient, hosts: str, read_s: float) -> str:
    """Name the chroots, at most one level deep, that do hold a Kafka."""
    client.chroot, until = "", time.monotonic() + read_s
    try:
        roots = ["", *(f"/{name}" for name in sorted(client.get_children_async("/").get(timeout=read_s))[:_HINTS])]
        found = [
            root for root in roots if client.exists_async(root + IDS).get(timeout=max(0.01, until - time.monotonic())) is not None
        ]
    except (KazooException, KazooTimeoutError):
        return ""  # the hint is a courtesy
    return f"; did you mean {' or '.join(clean_line(hosts + root) for root in found)}?" if found else ""
