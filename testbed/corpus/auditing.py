"""Audits of the corpus: snapshots by the console command, judged as the Spark job judges them."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.job import embedded_job, spark_job
from kafka_audit.model.report import report_json
from kafka_audit.spark import session
from kafka_audit.store import Store
from testbed.corpus.scene import NAME, Scene
from testbed.errors import BedError

SNAPSHOT_SECONDS = 2400
ENGINES = ("duckdb", "spark")


class Auditor:
    """Audits clusters.

    The steps are those of ``kafka-audit run``: the same snapshot, the same queries and checks, the same report. The queries run
    in DuckDB, which costs a tenth of Spark; tests/engine/test_job.py holds that both answer the same. Or in Spark, in one session
    for all audits.
    """

    def __init__(self, engine: str = ENGINES[0]) -> None:
        """Start nothing yet.

        Args:
            engine: one of `ENGINES`.
        """
        self.engine = engine
        self._spark: Any = None

    def close(self) -> None:
        """End Spark."""
        if self._spark is not None:
            session.end(self._spark)
            self._spark = None

    def snapshot(self, scene: Scene) -> str:
        """Take a snapshot of a cluster as `kafka-audit snapshot` does and return its id.

        Raises:
            BedError: the command failed.
        """
        config = self._config(scene)
        config.write_text(json.dumps({"clusters": {NAME: scene.entry}}))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_AUDIT_")}
        environment |= scene.cluster.secured.audit_environment() if scene.cluster.secured else {}
        where = ["--config", str(config), "--out", str(config.parent / "store")]
        command = [sys.executable, "-m", "kafka_audit.cli", "snapshot", NAME, *where]
        completed = scene.bed.worker.run(command, cwd=config.parent, env=environment, timeout=SNAPSHOT_SECONDS)
        if completed.returncode:
            message = f"kafka-audit snapshot: {completed.stderr.strip()[-500:]}"
            raise BedError(message)
        return completed.stdout.strip()

    def judged(self, scene: Scene, snapshot: str, previous: str | None) -> dict[str, Any]:
        """Return the report on a snapshot, PASS findings included, compared with a previous one."""
        config = self._config(scene)
        store, run = Store(str(config.parent / "store")), f"corpus-{time.time_ns()}"
        described = settings.load(str(config))
        audit.prepare_request(store, [snapshot], {snapshot: previous}, run, clusters=described, show_all=True)
        self._answer(store, run)
        (report,) = audit.write_reports(store, run, described)
        document: dict[str, Any] = report_json(report)
        return document

    def _answer(self, store: Store, run: str) -> None:
        if self.engine == "duckdb":
            embedded_job.answer(store, run)
            return
        if self._spark is None:
            self._spark = session.start("local[*]")
        spark_job.answer(self._spark, str(store.root), run)

    @staticmethod
    def _config(scene: Scene) -> Path:
        folder = scene.cluster.folder / "audits"
        folder.mkdir(exist_ok=True)
        return folder / "clusters.yaml"
