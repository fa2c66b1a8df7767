"""Variables without which Confluent's images end before Kafka starts. Pure.

Source: `/etc/confluent/docker/configure` of `confluentinc/kafka-images`, of the images from 5.0 to 8.2.
"""

from collections.abc import Iterator, Mapping

from kafka_audit.configuration.files.java import Property
from kafka_audit.model.linted import Remark

_ADVERTISED, _ROLES = "KAFKA_ADVERTISED_LISTENERS", "KAFKA_PROCESS_ROLES"
_REFUSED = ("KAFKA_ADVERTISED_HOST", "KAFKA_ADVERTISED_PORT", "KAFKA_HOST", "KAFKA_PORT")
_STORE = ("KAFKA_SSL_KEYSTORE_FILENAME", "KAFKA_SSL_KEY_CREDENTIALS", "KAFKA_SSL_KEYSTORE_CREDENTIALS")
_TRUST = ("KAFKA_SSL_TRUSTSTORE_FILENAME", "KAFKA_SSL_TRUSTSTORE_CREDENTIALS")


def image_remarks(variables: Mapping[str, Property], line: int) -> Iterator[Remark]:
    """Yield what the image refuses or lacks.

    Args:
        variables: those of the container, by name.
        line: of the first of them.
    """
    roles, advertised = variables.get(_ROLES), variables.get(_ADVERTISED)
    alone = roles is not None and roles.value.strip() == "controller"
    if alone and advertised is not None:
        yield _ends(advertised.line, f"it refuses {_ADVERTISED} of a controller")
    yield from (_ends(variables[name].line, f"it refuses {name}") for name in _REFUSED if name in variables)
    missing = [] if alone or advertised is not None else [_ADVERTISED]
    if roles is not None and "CLUSTER_ID" not in variables:
        missing.append("CLUSTER_ID")
    missing += [name for name in _of_security(variables, advertised) if name not in variables]
    yield from (_ends(line, f"it requires {name}") for name in missing)


def _of_security(variables: Mapping[str, Property], advertised: Property | None) -> Iterator[str]:
    if advertised is None:
        return
    client = variables.get("KAFKA_SSL_CLIENT_AUTH")
    if "SSL://" in advertised.value:
        yield from _STORE
        if client is not None and ("required" in client.value or "requested" in client.value):
            yield from _TRUST
    if any(name.startswith("SASL_") for name in advertised.value.split(",")):
        yield "KAFKA_OPTS"


def _ends(line: int, why: str) -> Remark:
    return Remark(line=line, text=f"Confluent's image ends before Kafka starts: {why}")
