"""How long `kafka-audit lint` takes for many brokers of one cluster: `python benchmarks/lint.py [--files 1000]`.

Writes the files into a temporary folder, lints them and prints the seconds after Python's start.
"""

import argparse
import contextlib
import io
import os
import tempfile
import time
from pathlib import Path

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
PROMISED_SECONDS = 5.0


def _used() -> float:
    """Return seconds of a core that this process and its children have used."""
    return sum(os.times()[:4])


def main() -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    count = parser.parse_args().files
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
