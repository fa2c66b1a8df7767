"""Three honest brokers and one that says something else in each answer, in a process of their own.

    python -m watch.long_watch_parties        (in tests/)

Prints the addresses as JSON by id. Each line on standard input ends the honest broker with that id; the end of input ends all.
"""

import itertools
import json
import struct
import sys

from kafka.protocol.metadata import MetadataResponse

from hostile_parties.broker import HostileBroker, changed
from hostile_parties.party import hang_up, raw

HONEST, HOSTILE = (0, 1, 5000), 3
METADATA, VERSIONS = 3, 18


def listing(hosts, count):
    """Other ids each time, at these hosts, before the honest ones."""
    numbers = itertools.count(100)
    kind = MetadataResponse.MetadataResponseBroker

    def add(answer):
        more = [kind(node_id=next(numbers), host=hosts[place % len(hosts)], port=1, rack=None) for place in range(count)]
        answer.brokers = [*more, *answer.brokers]

    return changed(add)


def lead_away(answer):
    for broker in answer.brokers:
        if broker.node_id != HOSTILE:
            broker.port = 1
    answer.cluster_id, answer.controller_id = "another", HOSTILE


def in_turn(*behaviours):
    turns = itertools.cycle(behaviours)

    def behave(exchange):
        behaviour = next(turns)
        return behaviour(exchange) if callable(behaviour) else behaviour

    return behave


def honest(exchange):
    exchange.send(exchange.honest)


class _Nothing(bytearray):
    """Keeps nothing of what was received: this runs for long."""

    def __iadd__(self, _data):
        return self


def main():
    """Serve until standard input ends."""
    brokers = {number: HostileBroker(number) for number in (*HONEST, HOSTILE)}
    for broker in brokers.values():
        broker.start()
        broker.received = _Nothing()
    for broker in brokers.values():
        broker.brokers = {other.id: (other.host, other.port) for other in brokers.values()}
        broker.controller_id = 0
    listed = listing(["127.0.0.1"], 15)
    many = listing(["127.0.0.1", "[::1]", "x ;touch P;#", "y" * 3000], 1000)
    brokers[HOSTILE].script[METADATA] = in_turn(listed, listed, many, changed(lead_away), b"odd bytes", listed, honest)
    apis = struct.pack("!hi", 0, 10_000) + b"\0\1\0\0\0\4" * 10_000
    brokers[HOSTILE].script[VERSIONS] = in_turn(*[honest] * 9, hang_up, raw(b"HTTP/1.1 400 Bad Request\r\n\r\n"), apis)
    sys.stdout.write(json.dumps({number: broker.address for number, broker in brokers.items()}) + "\n")
    sys.stdout.flush()
    for line in sys.stdin:
        brokers[int(line)].close()
    for broker in brokers.values():
        broker.close()


if __name__ == "__main__":
    main()
