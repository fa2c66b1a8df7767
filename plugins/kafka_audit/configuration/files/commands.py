"""What a container's command starts: a broker by the image's own start or by Kafka's, something not known, or no broker. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

from kafka_audit.configuration.files.java import Property


class StartKind(StrEnum):
    """Who decides with which settings a container starts a broker."""

    IMAGE = "image"  # its own start, from the variables
    WRAPPED = "wrapped"  # the same, after a command that may change its files
    SERVER = "server"  # kafka-server-start, with a file and overrides; variables are not read
    OTHER = "other"  # a script that is not known


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a container starts; `at` is the key of the command with its line."""

    kind: StartKind
    at: Property | None = None
    overrides: tuple[Property, ...] = ()
    file: str = ""  # what kafka-server-start reads


OF_IMAGE = Start(kind=StartKind.IMAGE)
_OWN_START = re.compile(
    r"/docker/(?:run|launch|configure)\b|start-kafka\.sh|(?:docker-)?entrypoint(?:\.sh)?\b|/kafka/run\.sh|^\s*(?:start|kafka)\s*$"
)
_ALONE = re.compile(
    r"\s*(?:/[\w/.-]{1,100}/)?(?:start-kafka\.sh|run|(?:docker-)?entrypoint\.sh\s{1,5}(?:/opt/bitnami/scripts/kafka)?/run\.sh)\s*"
)
_SERVER = re.compile(r"kafka-server-start|\bkafka\.Kafka\b")
_NO_BROKER = re.compile(
    r"\bcub\s+(?:kafka|zk)-ready|\bub\s+kafka-ready|\bkafka-(?:topics|configs|acls|consumer-groups|broker-api-versions|console-\w+"
    r"|storage|get-offsets|run-class|reassign-partitions|producer-perf-test|consumer-perf-test|verifiable-\w+|mirror-maker"
    r"|features|metadata-quorum|cluster|delete-records|leader-election|log-dirs|dump-log|rest-start|avro-console-\w+)\b"
    r"|\b(?:connect-(?:distributed|standalone|mirror-maker)|zookeeper-server-start|schema-registry-start|ksql-\w+|kcat|kafkacat)\b"
    r"|^\W*(?:bin\W+)?(?:(?:ba)?sh\W+)?(?:c\W+)?(?:sleep|tail|true|while|echo)\b|\bsleep\s+infinity\b|create[-_]?topics?"
)
_FILE = re.compile(r"kafka-server-start\S{0,40}\s{1,20}(?:-daemon\s{1,20})?([^\s\"']{1,300}\.properties)")
_OVERRIDE = re.compile(r"--override[\s=]+[\"']?([A-Za-z][\w.-]{0,200})=(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']*))")


def start_of(text: str, at: Property) -> Start | None:
    """Return how a container with a command starts a broker, None where it starts none.

    Args:
        text: all words of the command and its arguments.
        at: the key of the command with its line.
    """
    if not text.strip() or _ALONE.fullmatch(text):
        return OF_IMAGE
    if _OWN_START.search(text):
        return Start(kind=StartKind.WRAPPED, at=at)
    if _SERVER.search(text):
        overrides = tuple(
            Property(match[1], next(part for part in match.groups()[1:] if part is not None), at.line)
            for match in _OVERRIDE.finditer(text)
        )
        file = _FILE.search(text)
        return Start(kind=StartKind.SERVER, at=at, overrides=overrides, file=file[1] if file else "")
    return None if _NO_BROKER.search(text) else Start(kind=StartKind.OTHER, at=at)
