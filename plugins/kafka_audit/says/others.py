"""Names what a line is that is none of the catalogue's, where its logger shows that or from words in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kafka_audit.model.package_yaml import package_yaml
from kafka_audit.says.records import Record

_KAFKA = ("kafka.", "org.apache.kafka.", "org.apache.zookeeper.", "state.change.logger")
_LONGEST = 2_000


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program beside Kafka, by which of its lines it is known, and what would help."""

    name: str
    help: str
    loggers: Sequence[str] = ()
    signs: Sequence[str] = ()
    client: bool = False  # a client of Kafka, whose messages have pages
    around: bool = False  # what Kafka runs in

    @property
    def may_show_faults(self) -> bool:
        """Whether its lines may say why Kafka does not start, or works wrongly."""
        return self.client or self.around


@cache
def programs() -> tuple[Program, ...]:
    """Return the programs that are known."""
    return tuple(Program(**fields) for fields in package_yaml(__package__, "others.yaml"))


def program_of(record: Record) -> Program | None:
    """Return whose line it is, None if that is unknown."""
    by_logger = (known for known in programs() if record.logger.startswith(tuple(known.loggers)))
    text = record.line[:_LONGEST]
    found = next(by_logger, None) or next((known for known in programs() if any(sign in text for sign in known.signs)), None)
    if found is None and "." in record.logger and not record.logger.startswith(_KAFKA):
        return Program(name=f"a program with the logger {record.logger}", help="It is no class of Kafka or ZooKeeper.")
    return found
