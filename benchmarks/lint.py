"""How long `kafka-audit lint` takes for many brokers of one cluster: `python benchmarks/lint.py [--files 1000 | --compose 1000]`.

Writes the files, or one compose file with all brokers, of which 50 have the same fault, into a temporary folder, lints them and
prints the seconds after Python's start. Of a compose file, it also prints the seconds of parsing it and the lines of the text.
"""

import argparse
import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

import yaml

BROKER = """broker.id={id}
listeners=PLAINTEXT://:9092,SASL_SSL://:9093
advertised.listeners=PLAINTEXT://b{id}.example.com:9092,SASL_SSL://b{id}.example.com:9093
inter.broker.listener.name=SASL_SSL
zookeeper.connect=zk1:2181,zk2:2181/kafka
sasl.enabled.mechanisms=SCRAM-SHA-512
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\
  username="admin" password="secret";
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
super.users=User:admin
log.dirs=/data/a,/data/b
broker.rack=r{rack}
num.io.threads=16
num.network.threads=8
"""
SERVICE = """  b{id}:
    image: apache/kafka:4.1.1
    environment:
      KAFKA_NODE_ID: {id}
      KAFKA_PROCESS_ROLES: broker
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1000@c0:9093,1001@c1:9093,1002@c2:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://b{id}:{port}
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
      KAFKA_DEFAULT_REPLICATION_FACTOR: 3
      KAFKA_MIN_INSYNC_REPLICAS: 2
      KAFKA_LOG_DIRS: /data
    volumes: [d{id}:/data]
"""
PROMISED_SECONDS, PROMISED_LINES, FAULTS = 5.0, 200, 50


def _used() -> float:
    """Return seconds of a core that this process and its children have used."""
    return sum(os.times()[:4])


def _of_compose(count: int) -> int:
    """Measure one file with many brokers."""
    services = [SERVICE.format(id=number, port=9095 if number < FAULTS else 9092) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "compose.yaml"
        path.write_text("services:\n" + "".join(services))
        began = _used()
        yaml.compose(path.read_text(), yaml.CSafeLoader)
        parsed = _used() - began
        from kafka_audit.cli import main as kafka_audit  # noqa: PLC0415 -- its import is not measured here

        began, text = _used(), io.StringIO()
        with contextlib.redirect_stdout(text):
            code = kafka_audit(["lint", str(path)])
        used, lines = _used() - began, text.getvalue().count("\n")
    print(f"{count} brokers in one file: {used:.1f} s of a core, {parsed:.1f} s of them parsing, {lines} lines, exit code {code}")
    return 0 if used - parsed < PROMISED_SECONDS and lines < PROMISED_LINES else 1


def main() -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--compose", type=int)
    options = parser.parse_args()
    if options.compose:
        return _of_compose(options.compose)
    count = options.files
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            (Path(folder) / f"server-{number}.properties").write_text(BROKER.format(id=number, rack=number % 3))
        started, used = time.perf_counter(), _used()
        from kafka_audit.cli import main as kafka_audit  # noqa: PLC0415 -- what it imports is a part of what is measured

        with contextlib.redirect_stdout(io.StringIO()):
            code = kafka_audit(["lint", folder, "--format", "json"])
        seconds, cpu = time.perf_counter() - started, _used() - used
    print(f"{count} files in {seconds:.1f} s ({cpu:.1f} s of a core), exit code {code}; promised: {PROMISED_SECONDS:.0f} s")
    return 0 if seconds < PROMISED_SECONDS else 1


if __name__ == "__main__":
    raise SystemExit(main())
