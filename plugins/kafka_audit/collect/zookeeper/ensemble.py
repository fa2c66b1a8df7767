"""Read each server of the ensemble with a four-letter word."""

import base64
import re
import ssl
from collections.abc import Mapping, Sequence
from functools import partial

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.failures import of_error, of_report
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.sockets import Failure
from kafka_audit.clients.targets import ZOOKEEPER_LISTENER
from kafka_audit.clients.tls import TlsAccess, zookeeper_context
from kafka_audit.clients.zookeeper.four_letter_words import ask_word
from kafka_audit.collect.probes.certificates import certificate_row
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.compare.connect_strings import servers_of
from kafka_audit.model.cluster import WORKER, ZookeeperAccess
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row, ZookeeperMember

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
