"""The DAG of docs/what-if.md as it is printed, on real brokers under writes with acks=all: restart, wait, next, or stop.

The command that restarts a broker asks the test for it, and comes back as soon as the process is started again: the next sensor
has to wait.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import yaml

from airflow_environment import ROOT
from testbed import Bed
from testbed.airflow_home import AirflowHome
from testbed.topics import configure_topic

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]

ORDERS = {number: [number % 3, (number + 1) % 3, (number + 2) % 3] for number in range(3)}
PROPERTIES = {"replica.lag.time.max.ms": "3000", "auto.create.topics.enable": "false"}
REFUSED = {"NotEnoughReplicasError", "NotEnoughReplicasAfterAppendError", "lost"}
FIRST, SECOND, LAST = ORDER = (1, 2, 0)


@pytest.fixture(scope="module", params=["3.9.1", "4.3.0"])
def bed(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(f"bed-{request.param}")
    with Bed(folder, keep_logs=folder / "logs") as bed:
        (bed.cluster if request.param == "3.9.1" else bed.kraft)(request.param, properties=PROPERTIES)
        yield bed


@pytest.fixture(scope="module")
def cluster(bed):
    (cluster,) = bed.clusters
    cluster.create_topic("orders", ORDERS)
    cluster.await_settled()
    configure_topic(cluster, "orders", {"min.insync.replicas": "2"})
    if cluster.zookeeper_connect:
        cluster.make_controller(LAST)
    return cluster


class Restarts:
    """Restarts brokers as the DAG asks for it, and does more before the first where a test wants it."""

    def __init__(self, cluster, folder, before_first=lambda _broker: None):
        self.done = []
        self.folder = folder
        folder.mkdir()
        self._cluster, self._before_first = cluster, before_first
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    @property
    def command(self):
        """What the DAG runs: asks, and waits for the answer."""
        asked = f"{self.folder}/{{broker}}"
        return f"touch {asked}.asked; until test -e {asked}.done; do sleep 0.2; done"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _serve(self):
        while not self._ended.wait(0.2):
            for asked in self.folder.glob("*.asked"):
                broker = int(asked.stem)
                asked.unlink()
                if not self.done:
                    self._before_first(broker)
                self._cluster.brokers[broker].stop()
                self._cluster.brokers[broker].server.launch()
                self.done.append(broker)
                (self.folder / f"{broker}.done").touch()


@contextlib.contextmanager
def writing(bed, cluster):
    """Write to all partitions; yields a function that ends it and returns what became of the records."""
    addresses = ",".join(broker.address for broker in cluster.brokers.values())
    script = Path(__file__).parent / "clients" / "every_write.py"
    process = bed.worker.popen(
        [sys.executable, str(script), addresses, "orders", str(len(ORDERS))],
        cwd=bed.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    )
    try:
        yield lambda: json.loads(process.communicate()[0])
    finally:
        process.kill()
        process.communicate()


def rolled(bed, cluster, folder, restarts, timeout):
    """Run the printed DAG with the command of the test, and shorter times; return the run and its log."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "what-if.md").read_text(), re.DOTALL)
    for old, new in (
        (r"^RESTART = .*$", f"RESTART = {restarts.command!r}"),
        (r'"poke_interval": \d+', '"poke_interval": 2'),
        (r'"timeout": \d+', f'"timeout": {timeout}'),
    ):
        code, number = re.subn(old, lambda _, new=new: new, code, flags=re.MULTILINE)
        assert number == 1, f"{old} is in the page {number} times"
    dags = folder / "dags"
    dags.mkdir()
    (dags / "rolling.py").write_text(code)
    entry = yaml.safe_load(cluster.clusters_yaml("prod"))["clusters"]["prod"] | {"limits": {"settle_s": 1}}
    (folder / "clusters.yaml").write_text(json.dumps({"clusters": {"prod": entry}}))
    home = AirflowHome(
        bed.worker,
        folder / "airflow",
        clusters=folder / "clusters.yaml",
        store=folder / "store",
        variables={"AIRFLOW__CORE__DAGS_FOLDER": str(dags)},
    )
    home.ready(home.migrate())
    run = home.run(folder / "dag.log", dag="rolling_restart")
    return run, run.log.read_text()


def test_every_broker_restarts_and_no_write_is_refused(bed, cluster, tmp_path):
    with writing(bed, cluster) as end, Restarts(cluster, tmp_path / "restarts") as restarts:
        run, text = rolled(bed, cluster, tmp_path, restarts, timeout=240)
        written = end()
    assert run.returncode == 0, run.tail()
    assert restarts.done == [*ORDER]
    assert not REFUSED & {*written["errors"]}, written
    assert min(written["taken"]) > 0, written
    assert text.count("may be stopped: every partition that has a leader keeps one and accepts acks=all") == len(ORDER) + 1
    report = json.loads((tmp_path / "store" / "clusters" / "prod" / "findings.json").read_text())
    assert report["incidents"] == []


def test_with_a_follower_that_is_stuck_it_stops_before_the_next_restart_and_says_why(bed, cluster, tmp_path):
    cluster.await_settled()

    def cut(broker):
        """Cut the first from its leaders: it stays out of the ISR, and with ZooKeeper does not get as far as to register."""
        for other in (SECOND, LAST):
            bed.cut(cluster.brokers[broker].host, cluster.brokers[other].host)

    with (
        writing(bed, cluster) as end,
        Restarts(cluster, tmp_path / "restarts", before_first=cut) as restarts,
    ):
        run, text = rolled(bed, cluster, tmp_path, restarts, timeout=30)
        written = end()
    assert run.returncode != 0
    assert restarts.done == [FIRST]
    assert not REFUSED & {*written["errors"]}, written
    assert re.search(
        rf"prod: not safe within 30 s: Do not stop broker {SECOND}: \d partitions? of orders would refuse acks=all\. "
        rf"(Bring broker {FIRST} back in sync in|Start broker {FIRST}:) \d partition",
        text,
    ), run.tail()

    with writing(bed, cluster) as end:  # what the DAG did not do
        cluster.brokers[SECOND].stop()
        cluster.brokers[SECOND].start()
        assert REFUSED & {*end()["errors"]}
