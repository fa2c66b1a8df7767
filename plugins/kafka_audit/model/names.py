"""What the names of a cluster may be: hosts, ports, listeners, topics, racks, groups, principals. Pure.

A party that may write a znode or answer as a broker can choose a name that no real cluster has: a command for a shell, a
megabyte, a line break. Such a name is refused where it enters, so that nothing is dialled, kept or printed because of it. What
Kafka allows is allowed: underscores and upper case in hosts, any printable text as a group.
"""

import re
from collections import Counter
from enum import Enum

from kafka_audit.model.text import counted

LONGEST_HOST, LONGEST_TOPIC, LAST_PORT = 255, 249, 65535
LONGEST_TEXT = 4096
"""Characters of groups, principals, racks and paths, for which Kafka has no bound but 32,767 bytes."""

_SHOWN = 60
_CONTROL = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]")


class NameKind(Enum):
    """A kind of name, as sentences call it."""

    HOST = "host"
    LISTENER = "listener"
    TOPIC = "topic"
    RACK = "rack"
    GROUP = "group"
    PRINCIPAL = "principal"
    RESOURCE = "resource"
    PATH = "path"
    SETTING = "setting"


_FORMS = {
    # Kafka's own for endpoints (kafka.cluster.EndPoint): DNS, IPv4, IPv6 with a zone. Metadata has IPv6 without brackets.
    NameKind.HOST: re.compile(r"[0-9A-Za-z._:%\-]{0,255}|\[[0-9A-Za-z.:%_\-]{2,253}\]"),
    NameKind.LISTENER: re.compile(r"[0-9A-Za-z._\-]{1,255}"),
    # org.apache.kafka.common.internals.Topic
    NameKind.TOPIC: re.compile(r"(?!\.{1,2}\Z)[a-zA-Z0-9._\-]{1,249}"),
}


def can_be_name(kind: NameKind, name: str) -> bool:
    """Return whether a cluster can have such a name; an empty host is one of an endpoint that listens everywhere."""
    form = _FORMS.get(kind)
    if form is not None:
        return form.fullmatch(name) is not None
    return len(name) <= LONGEST_TEXT and _CONTROL.search(name) is None


def is_port(port: int) -> bool:
    """Return whether a number is a port's."""
    return 0 <= port <= LAST_PORT


class RefusedNames:
    """Names that were refused in one answer: how many of each kind, and the first of them."""

    def __init__(self) -> None:
        """Start without any."""
        self._counts: Counter[str] = Counter()
        self._first = ""

    def __bool__(self) -> bool:
        """Return whether there is one."""
        return bool(self._counts)

    def add(self, kind: str, name: str) -> None:
        """Count a name, and keep the beginning of the first one."""
        if not self._counts:
            self._first = f"{name[:_SHOWN]!r}" + (f" of {len(name)} characters" if len(name) > _SHOWN else "")
        self._counts[kind] += 1

    def address(self, host: str, port: int) -> bool:
        """Count what of an address no cluster has; return whether it is refused."""
        if not can_be_name(NameKind.HOST, host):
            self.add(NameKind.HOST.value, host)
        elif not is_port(port):
            self.add("port", str(port))
        else:
            return False
        return True

    @property
    def text(self) -> str | None:
        """What was refused, in words; None if nothing was."""
        if not self._counts:
            return None
        counts = ", ".join(counted(count, kind) for kind, count in self._counts.items())
        return f"{counts} that no cluster has, the first: {self._first}"
