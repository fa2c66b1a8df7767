"""The text that a probe reports at a layer, as values of typed columns. Text of another form gives no value."""

import re
from typing import TypedDict

from kafka_audit.clients.probe_script import MECHANISM

_ADDRESSES = re.compile(r"[0-9A-Fa-f.:]{2,45}(%[0-9A-Za-z_.-]{1,30})?(,[0-9A-Fa-f.:]{2,45}(%[0-9A-Za-z_.-]{1,30})?)*")
_RESOLVER = re.compile(r"hosts file|no nameserver|nameserver [0-9a-f.:%,]{1,200}")
_BROKER_ID = re.compile(r"[0-9]{1,10}")
_BYTES = re.compile(r"([0-9]{1,9}) bytes sent, ([0-9]{1,9}) received")


class ReportedValues(TypedDict, total=False):
    """Columns of `Probe`; one that is absent has its default."""

    addresses: tuple[str, ...]
    resolver: str
    mechanisms: tuple[str, ...]
    answered_by: int
    sent: int
    received: int


def reported_values(layer: str, text: str | None) -> ReportedValues:
    """Return the values of a layer's text.

    Args:
        layer: of the probe.
        text: dns: `10.0.0.1,10.0.0.2 by nameserver 10.0.0.9`, each half may be missing; sasl: `PLAIN,SCRAM-SHA-512`; identity: a
            broker's id; packets: `10024 bytes sent, 23904 received`.
    """
    text, values = (text or "").strip(), ReportedValues()
    if layer == "dns":
        addresses, _, resolver = f" {text}".partition(" by ")
        if _ADDRESSES.fullmatch(addresses.strip()):
            values["addresses"] = tuple(addresses.strip().split(","))
        if _RESOLVER.fullmatch(resolver):
            values["resolver"] = resolver
    elif layer == "sasl":
        mechanisms = [part.strip() for part in text.split(",")]
        values["mechanisms"] = tuple(part for part in mechanisms if MECHANISM.fullmatch(part))
    elif layer == "identity" and _BROKER_ID.fullmatch(text):
        values["answered_by"] = int(text)
    elif layer == "packets" and (found := _BYTES.fullmatch(text)):
        values |= {"sent": int(found[1]), "received": int(found[2])}
    return values
