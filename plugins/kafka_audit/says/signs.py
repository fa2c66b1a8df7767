"""Lines of the catalogue that an audit judges by: what it reads in them, and the check whose fault they show.

They stand with their meanings (`reads` in `meanings/`), which say what such a line means to a reader; `kafka-audit explain` with
the line says so, and which releases write it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_audit.model.tables.logs import LogLine
from kafka_audit.says.catalogue import Meaning, meanings
from kafka_audit.says.reading import read_pasted

NO_PRINCIPAL = "no_principal"
"""A line about the certificate of a client, which may be a broker: its detail is the name that no rule maps."""

ZOOKEEPER_CLIENT = "ZooKeeperClient"
"""The part of a broker that is connected with ZooKeeper; its lines say nothing about listeners of brokers."""

# Whose connections go from broker to broker, or to a controller; an AdminClient or a producer inside a broker is a client.
_PART = (
    r"\[(?:(?P<part>Controller) id=\d{1,10}, targetBrokerId=(?P<about>\d{1,10})"
    r"|(?P<part_f>ReplicaFetcher) replicaId=\d{1,10}, leaderId=(?P<about_f>\d{1,10})"
    r"|(?P<part_q>RaftManager|(?:Node|Broker)ToControllerChannelManager)\b)[^\]]{0,200}\] "
)
_NODE = r"(?P<node>-?\d{1,10})(?: \((?P<address>[^() ]{1,300})\))?"


@dataclass(frozen=True, kw_only=True)
class Sign:
    """A line, or a kind of lines, of a meaning. Groups: part, about (a broker's id), node, host and port or address, detail.

    The detail of a line without such a group is the exception below it, or the principal in one of them.
    """

    id: str
    meaning: Meaning
    marker: str  # a plain part of the line, searched before the pattern
    pattern: re.Pattern[str]
    log: str = "server.log"  # the file of Kafka's own log4j configuration
    means: str  # for a sentence: "its log says that …"
    supports: str | None = None  # the check whose fault it shows; None where the line below it decides, or nothing does
    by_reason: tuple[tuple[str, str], ...] = ()  # a part of the exception below the line, and the check
    by_detail: tuple[tuple[str, str], ...] = ()  # a part of the detail, and the check
    names_principal: bool = False  # the detail is the principal that was refused
    part: str | None = None  # of the broker, where the line does not name it
    repeats: bool = False  # whether Kafka writes it again and again for as long as the fault lasts
    own: bool = False  # about the broker that writes it

    def shows(self, detail: str, below: str) -> str | None:
        """Return the code of the check whose fault such a line shows, by its detail and the exception below it."""
        if self.by_reason:
            return next((code for part, code in self.by_reason if part in below), None)
        if self.by_detail:
            return next((code for part, code in self.by_detail if part in detail), None)
        return self.supports


NO_ACL_READ = "AuthorizerNotReadyException"
"""What StandardAuthorizer answers to all but super users until its controller has read the metadata log."""


def _sign(name: str, meaning: Meaning, raw: Mapping[str, Any]) -> Sign:
    """Return a line of the file."""
    pieces = raw["pattern"] if isinstance(raw["pattern"], list) else [raw["pattern"]]
    pattern = re.compile("".join(pieces).replace("<PART>", _PART).replace("<NODE>", _NODE))
    by = {key: tuple(raw.get(key, {}).items()) for key in ("by_reason", "by_detail")}
    return Sign(id=name, meaning=meaning, **{**raw, **by, "pattern": pattern})


SIGNS: Mapping[str, Sign] = {
    name: _sign(name, meaning, raw) for meaning in meanings().values() for name, raw in meaning.reads.items()
}
"""All signs by their names. A pattern is only tried where its marker is: the time grows with the length of a log."""


NOT_RECOGNISED = "not_recognised"
"""The signature of a line at ERROR that the catalogue does not have."""


def unused_sign(text: str) -> Sign | None:
    """Return what stands for a line at ERROR by which nothing is judged, and what is below it; None for an ordinary one."""
    found = [template.meaning for answer in read_pasted(text) for template in answer.found]
    known = [meanings()[name] for name in found]
    if known and not any(meaning.kind in {"sign", "consequence"} for meaning in known):
        return None
    meaning = known[0] if known else Meaning(id=NOT_RECOGNISED, room="", says="It is not known.", kind="nothing", party="any")
    return Sign(id=meaning.id, meaning=meaning, marker="", pattern=_NEVER, means="it reports an error", own=True)


_NEVER = re.compile(r"(?!)")

HANDSHAKE = "certificate"
"""What `login_fault` returns where TLS fails."""

_LOGIN_FAULTS = (
    ("ssl handshake", HANDSHAKE),
    ("sslhandshake", HANDSHAKE),
    ("sslauthentication", HANDSHAKE),
    ("notsslrecord", HANDSHAKE),
    ("post-handshake", HANDSHAKE),  # TLS 1.3 refuses a client's certificate after the client's own handshake has ended
    ("mechanism", "mechanism"),
)


def shown_by(line: LogLine) -> str | None:
    """Return the code of the check whose fault a line shows, None where it shows none."""
    sign = SIGNS.get(line.signature)  # None for one of a later version
    below = line.text.partition(" / ")[2] if line.exception is None else line.exception
    return sign.shows(f"{line.detail or ''} {line.text}", below) if sign else None


def login_fault(line: LogLine) -> str:
    """Return why the login of a line fails: certificate, mechanism, principal or credential."""
    if line.signature == NO_PRINCIPAL:
        return "principal"
    lower = f"{line.detail or ''} {line.exception or ''} {line.text}".lower()
    return next((fault for part, fault in _LOGIN_FAULTS if part in lower), "credential")
