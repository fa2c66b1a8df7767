"""A hostile broker as a process of its own, for a network namespace: `python -m hostile_parties.serve '{"broker_id": 9, …}'`.

The JSON: `broker_id`, `cluster_id`, `host`, `port`, `mechanisms`, `users`; `script` (API key, "accept" or "identity" ->
behaviour by name, as "drip 2"); `fields` of HostileBroker to set (`brokers` as
{"9": ["10.0.0.9", 9092]}, `topics`, `configs`, …). It prints a line
{"port": …} once it listens. A line on stdin is a new JSON of `script` and `fields`, answered by {}, or {"tell": [fields]}.
At the end of stdin it prints
what arrived, as {"connections", "received" (hexadecimal), "passwords", "scram_messages"}, and ends.
"""

import json
import sys

from hostile_parties.broker import HostileBroker
from hostile_parties.party import named


def apply(broker, script):
    """Change a broker as the JSON says."""
    broker.script = {int(key) if key.isdigit() else key: named(text) for key, text in script.get("script", {}).items()}
    for name, value in script.get("fields", {}).items():
        read = _READ.get(name, lambda same: same)(value)
        setattr(broker, name, {"broker.id": (str(broker.id), False)} | read if name == "configs" else read)


def _brokers(value):
    return {int(number): tuple(where) for number, where in value.items()}


def _topics(value):
    return {
        name: {int(number): tuple(partition) for number, partition in partitions.items()} for name, partitions in value.items()
    }


def _configs(value):
    return {key: (setting, False) for key, setting in value.items()}


_READ = {"brokers": _brokers, "topics": _topics, "configs": _configs}


def say(content):
    """Print a line of JSON."""
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def main():
    """Serve until stdin ends."""
    described = json.loads(sys.argv[1])
    named_options = {key: described[key] for key in ("host", "port", "mechanisms", "users") if key in described}
    with HostileBroker(described["broker_id"], described.get("cluster_id", "fake"), **named_options) as broker:
        apply(broker, described)
        say({"port": broker.port})
        for line in sys.stdin:
            asked = json.loads(line)
            if "tell" not in asked:
                apply(broker, asked)
            say({name: getattr(broker, name) for name in asked.get("tell", ())})
        kept = {"connections": broker.connections, "received": broker.received.hex(), "passwords": broker.passwords}
        say(kept | {"scram_messages": broker.scram_messages})


if __name__ == "__main__":
    main()
