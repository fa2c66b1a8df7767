"""Three brokers on loopback that answer as a KRaft cluster does, each of which can be closed and opened; no JVM.

And a `spark-submit` that answers at once that no SQL check found anything: row checks judge, and what is proved is what follows.
"""

import contextlib
import json
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace

from collect import fakes
from testbed.airflow_home import ROOT, AirflowHome

HERE = SimpleNamespace(popen=lambda command, **options: subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options))

SPARK_SUBMIT = """#!{python}
import argparse, sys
sys.path[:0] = {paths!r}
from kafka_audit.job.embedded_job import answer
from kafka_audit.store import Store
parser = argparse.ArgumentParser()
parser.add_argument("--store"), parser.add_argument("--run")
given, _ = parser.parse_known_args()
answer(Store(given.store), given.run)
"""


class Door:
    """A port of loopback behind which a broker is, or is not."""

    def __init__(self, broker):
        self._broker = broker
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = self._listener.getsockname()
        self._serve(self._listener)

    def close(self):
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None

    def open(self):
        if self._listener is None:
            self._listener = socket.create_server(self.address)
            self._serve(self._listener)

    def _serve(self, listener):
        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()

    def _answer(self, connection):
        with contextlib.closing(connection), contextlib.suppress(OSError):
            self._broker(connection)


class LoopbackCluster:
    """Brokers 0, 1 and 2."""

    def __init__(self, cluster_id="loopbackloopbackloopba"):
        self.brokers = [fakes.FakeBroker(number, cluster_id=cluster_id) for number in range(3)]
        self._doors = [Door(broker) for broker in self.brokers]
        topics = {"orders": {number: (number, [0, 1, 2]) for number in range(3)}}
        for broker in self.brokers:
            broker.brokers = dict(enumerate(door.address for door in self._doors))
            broker.topics = topics
            broker.controller_id = 0
            broker.configs["broker.session.timeout.ms"] = ("1000", False)  # for so long an audit waits for one that refuses

    def only(self, *numbers):
        """Let these brokers be reached, and no others."""
        for number, door in enumerate(self._doors):
            door.open() if number in numbers else door.close()

    def entry(self):
        """Return the cluster's entry of a cluster file."""
        addresses = [f"{host}:{port}" for host, port in (door.address for door in self._doors)]
        return {"bootstrap": addresses, "limits": {"read_s": 3, "settle_s": 0}}

    def close(self):
        self.only()


def spark_submit(folder):
    """Write that `spark-submit` into a folder for PATH; return the environment of an Airflow that uses it."""
    folder.mkdir(parents=True)
    script = folder / "spark-submit"
    script.write_text(SPARK_SUBMIT.format(python=sys.executable, paths=[str(ROOT / name) for name in ("tests", "plugins", ".")]))
    script.chmod(0o755)
    return '{"conn_type": "spark", "host": "local[1]", "extra": {"spark-binary": "spark-submit"}}'


def airflow_over(cluster, folder, variables, *dags):
    """Return an Airflow of its own that audits the cluster as `prod`, with further DAGs, and that `spark-submit`."""
    clusters, bundle = folder / "clusters.yaml", folder / "dags"
    clusters.write_text(json.dumps({"clusters": {"prod": cluster.entry()}}))
    bundle.mkdir()
    for source in (*(ROOT / "dags").glob("*.py"), *dags):
        (bundle / source.name).symlink_to(source)
    own = {"AIRFLOW__CORE__DAGS_FOLDER": str(bundle), "AIRFLOW_CONN_KAFKA_AUDIT_SPARK": spark_submit(folder / "bin")}
    home = AirflowHome(HERE, folder / "airflow", clusters=clusters, store=folder / "store", variables=variables | own)
    home.environment["PATH"] = f"{folder / 'bin'}:{home.environment['PATH']}"
    home.ready(home.migrate())
    return home
