"""Two DAGs of another team: one runs after each audit of prod, one only after those that found nothing."""

import json
import os
from pathlib import Path

from airflow.sdk import Asset, dag, get_current_context, task


@task
def told():
    """Note each event that this run was started for."""
    context = get_current_context()
    with Path(os.environ["AFTER_AUDITS"]).open("a") as out:
        for asset, events in context["triggering_asset_events"].items():
            out.writelines(json.dumps([context["dag"].dag_id, asset.uri, event.extra]) + "\n" for event in events)


for kind in ("audited", "clean"):

    @dag(
        dag_id=f"after_{kind}",
        schedule=[Asset(name=f"kafka_audit/prod/{kind}", uri=f"x-kafka-audit://prod/{kind}")],
        is_paused_upon_creation=False,
    )
    def after():
        """Run once an audit of prod ended like that."""
        told()

    after()
