"""The processes of a soak: `python -m soak.roles ROLE FOLDER`. Each takes lines of JSON on stdin and answers each with one.

cluster   a small cluster of fakes that changes; {"do": name, …} of `Changing`
auditor   whole audits in one process, as a worker of Airflow would run them for ever; a Spark of its own for each
page      the page of the Airflow UI, which reads the newest reports
"""

import contextlib
import ctypes
import gc
import json
import os
import sys
import threading
import time
from pathlib import Path

import numpy as np


def serve(answer):
    """Answer lines until stdin ends."""
    say({})
    for line in sys.stdin:
        say(answer(json.loads(line)))


def say(content):
    _TOLD.write(json.dumps(content) + "\n")
    _TOLD.flush()


class Changing:
    """A cluster and what happens to it."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __call__(self, asked):
        for broker in self.cluster.brokers:
            broker.received.clear()
            broker.requests.clear()
        self.cluster.zookeeper.received.clear()
        self.cluster.zookeeper.asked.clear()
        later = asked.pop("after_s", None)
        if later is None:
            return self._do(**asked)
        threading.Timer(later, self._do, kwargs=asked).start()
        return {}

    def _do(self, do, **fields):
        return getattr(self, do)(**fields) or {}

    def entry(self):
        return self.cluster.entry(read_s=2, settle_s=0.5, audit_s=30)

    def create(self, name, replicas):
        self.cluster.create_topic(name, dict(enumerate(replicas)))

    def delete(self, name):
        self.cluster.delete_topic(name)

    def move(self, name, partition):
        self.cluster.move_leader(name, partition)

    def stop(self, broker):
        self.cluster.stop(broker)

    def start(self, broker):
        self.cluster.start(broker)

    def hostile(self, broker, key, behaviour):
        """Let a broker answer one API as a behaviour has it."""
        from hostile_parties.party import named  # noqa: PLC0415 -- this role alone

        self.cluster.brokers[broker].script = {key: named(behaviour)}

    def hostile_znode(self, path, text):
        self.cluster.zookeeper.znodes[path] = text.encode()

    def honest(self):
        for broker in self.cluster.brokers:
            broker.script = {}
            broker.drop()
        for path in [path for path in self.cluster.zookeeper.znodes if path.startswith("/config/brokers/")]:
            del self.cluster.zookeeper.znodes[path]


def cluster(_folder):
    from hostile_parties.cluster import HostileCluster  # noqa: PLC0415 -- this role alone

    with HostileCluster() as cluster:
        serve(Changing(cluster))


def release_free_memory():
    """Give back what nothing refers to, so that what is left is in use.

    The interpreter's cache of type attributes keeps the last name of each of its 4,096 places. C code that asks for an attribute
    by a C string (pyarrow and NumPy do) makes a new name each time, which takes another place: some 60 names of 50 to 70 bytes an
    audit, until all places are taken after a few hours. That is bounded, but would look like a leak of 3 kB an audit.
    """
    sys._clear_type_cache()  # CPython has it for this: it drops references while one looks for leaks
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


class _Usage(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    )


def memory_in_use():
    """Return what this process has allocated and not freed, in MB."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = _Usage
    usage = ask()
    return (usage.uordblks + usage.hblkhd) / 1024**2


_INTERNED = 2**17
"""More strings than a process of an audit ever interns at once."""


def grow_table_of_interned_strings():
    """Let CPython's table of interned strings double now.

    Strings that are gone keep their place in the table until it is full, after some seventy audits; it then takes 1.8 MB more,
    once. That step would look like a leak.
    """
    for number in range(_INTERNED):
        sys.intern(f"soak {number}")


_CACHED_BYTES, _CACHED_BLOCKS = 1024, 7
"""Numbers of freed blocks of each size, and sizes, that NumPy keeps (`datacache` in its alloc.c)."""


def fill_cache_of_numpy():
    """Let NumPy keep all blocks that it ever keeps, 3.6 MB.

    Columns of a cluster that grows are of sizes not seen before, and NumPy keeps blocks of each size: memory grows with the
    largest cluster seen, by 10 kB for a topic. That is bounded, but would look like a leak.
    """
    for size in range(1, _CACHED_BYTES):
        _at_once = [np.empty(size, np.uint8) for _ in range(_CACHED_BLOCKS)]


def auditor(folder):
    from kafka_audit import audit, settings  # noqa: PLC0415 -- this role alone
    from kafka_audit.alerting import delivery  # noqa: PLC0415
    from kafka_audit.alerting.conditions import AlertLimits, AuditResult  # noqa: PLC0415
    from kafka_audit.alerting.delivery import Channel  # noqa: PLC0415
    from kafka_audit.alerting.messages import Links  # noqa: PLC0415
    from kafka_audit.job import embedded_job  # noqa: PLC0415
    from kafka_audit.report import gate  # noqa: PLC0415
    from kafka_audit.spark.submission import submit_and_wait  # noqa: PLC0415
    from kafka_audit.store import Store  # noqa: PLC0415

    os.environ["KAFKA_AUDIT_STORE"] = str(folder / "store")
    store = Store(folder / "store")
    subjects = []
    channel = Channel(name="pager", needs="", send=lambda message: subjects.append(message.subject), target=lambda: "a pager")

    grow_table_of_interned_strings()
    fill_cache_of_numpy()

    def audited(asked):
        began = time.monotonic()
        described = settings.load(str(folder / "clusters.yaml"))["soak"]
        snapshot_id = audit.publish_snapshot(described, store, lambda _: None)
        collected = time.monotonic() - began
        run_id = f"soak-{time.time_ns()}"
        audit.prepare_request(store, [snapshot_id], None, run_id)
        if asked["spark"]:
            submit_and_wait(store.root, run_id)
        else:
            embedded_job.answer(store, run_id)
        (document,) = audit.write_reports(store, run_id, {"soak": described})
        result = AuditResult(cluster="soak", document=document)
        delivery.deliver(channel, "soak", result, Links(), limits=AlertLimits(), store_root=store.root)
        failed = [f for f in document.findings if gate.fails_gate(f, gate.severity_of("high"))]
        high = sorted(f"{f.code} {f.resource.name}" for f in failed)
        coverage = {"asked": document.coverage.asked, "answered": document.coverage.answered}
        alerts = [*subjects]
        subjects.clear()
        return {"seconds": time.monotonic() - began, "collected_s": collected, "alerts": alerts, "high": high, **coverage}

    def once(asked):
        answer = audited(asked)  # its report, which is as large as the cluster, is gone when memory is measured
        release_free_memory()
        return answer | {"in_use": memory_in_use()}

    serve(once)


def page(folder):
    import airflow_environment  # noqa: PLC0415 -- this role alone

    airflow_environment.apply()
    from airflow.api_fastapi.app import init_auth_manager  # noqa: PLC0415
    from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser  # noqa: PLC0415
    from airflow.api_fastapi.core_api.security import get_user  # noqa: PLC0415
    from airflow.utils.db import initdb  # noqa: PLC0415
    from fastapi.testclient import TestClient  # noqa: PLC0415

    from kafka_audit.airflow.page.routes import app  # noqa: PLC0415

    os.environ |= {"KAFKA_AUDIT_STORE": str(folder / "store"), "KAFKA_AUDIT_CLUSTERS": str(folder / "clusters.yaml")}
    initdb()
    init_auth_manager()
    app.dependency_overrides[get_user] = lambda: SimpleAuthManagerUser(username="somebody", role="VIEWER")
    client = TestClient(app)

    def once(_asked):
        newest = max(path.name for path in (folder / "store" / "snapshots").iterdir())
        paths = ("/", "/clusters/soak", "/clusters/soak/timeline", "/clusters/soak?fold=0", f"/snapshots/{newest}", "/checks")
        codes = {path: client.get(path).status_code for path in paths}
        release_free_memory()
        return {"codes": sorted(set(codes.values())), "in_use": memory_in_use()}

    serve(once)


if __name__ == "__main__":
    _TOLD = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # Airflow prints there
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        {"cluster": cluster, "auditor": auditor, "page": page}[sys.argv[1]](Path(sys.argv[2]))
