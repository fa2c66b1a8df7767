"""Steps that several causes share, with exact hosts, ports and files in them."""

import re
from collections.abc import Iterable

from kafka_audit.checks.reads import last_reads
from kafka_audit.engine.causes.rule import Case
from kafka_audit.engine.facts import Endpoint
from kafka_audit.model.finding import Step
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean, listing, word

_ADDRESSES = re.compile(r"\[?([^\s,/\[\]]+?)\]?:(\d+)(?=[,/]|$)")


def connect(endpoints: tuple[Endpoint, ...], limit: int = 10) -> tuple[str, ...]:
    """Return one `nc` a endpoint: it opens a connection, sends nothing, and says which way it failed."""
    return tuple(f"nc -vz -w 3 {word(e.host)} {e.port}" for e in endpoints[:limit])


def advertise(case: Case, broken: Endpoint, address: str) -> str:
    """Return the whole setting with one address replaced: what Kafka does not find in the list is advertised no more."""
    own = case.facts.endpoints_of(broken.broker_id)
    parts = (f"{clean(e.listener)}://{address if e == broken else clean(e.address)}" for e in own)
    return f"advertised.listeners={','.join(parts)}"


def connect_again(reads: Iterable[SourceRead], limit: int = 5) -> tuple[str, ...]:
    """Return one `nc` for each address that reads which failed were sent to, ZooKeeper's connection string taken apart."""
    addresses = dict.fromkeys(
        pair for read in reads for pair in re.findall(r"\[?([^\s,/\[\]]+?)\]?:(\d+)(?=[,/]|$)", read.target)
    )
    return tuple(f"nc -vz -w 3 {word(host)} {port}" for host, port in list(addresses)[:limit])


def zookeeper_shell(case: Case, *requests: str) -> tuple[str, ...]:
    """Return a command for each request, e.g. `ls /brokers/ids`, at the address (with its chroot) that the audit itself asked."""
    asked = [read.target for read in last_reads(case.facts.snapshot) if read.observer == "zookeeper"]
    address = word(asked[0]) if asked else "<zookeeper.connect>"
    return tuple(f"zookeeper-shell.sh {address} {request}" for request in requests)


def prove(case: Case) -> Step:
    """Return the last step of every repair: ask again."""
    codes = sorted({root.code for root in case.roots})
    return Step(
        kind="prove",
        text=f"Audit again: exit 0, and {listing(codes)} resolved.",
        commands=(f"kafka-audit run {word(case.facts.snapshot.cluster)} --config clusters.yaml --out DIR --fail-on high",),
    )


def do_not(text: str) -> Step:
    """Return a warning."""
    return Step(kind="do_not", text=text)
