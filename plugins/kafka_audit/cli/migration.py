"""`before-migration` and `after-migration`: the gate before a change and the comparison after it, as the DAGs do them."""

import argparse
import json
import os
from datetime import UTC, datetime

from kafka_audit import audit
from kafka_audit.cli import clusters, commands
from kafka_audit.cli.printing import console
from kafka_audit.migration import after, before, plain_text, plan, proposed_listeners
from kafka_audit.report import verdicts
from kafka_audit.store import Store
from kafka_audit.store.baselines import Baselines


def before_migration_command(arguments: argparse.Namespace) -> int:
    """Snapshot, judge, decide; on a go keep the snapshot as baseline."""
    say = console.Progress(quiet=arguments.quiet)
    planned = plan.plan(
        arguments.kind,
        node_ids=[part for part in arguments.node_ids.split(",") if part.strip()],
        proposed=arguments.proposed,
        advertised=arguments.advertised,
        version=arguments.kafka_version,
        oldest_client=arguments.oldest_client,
        vantages=arguments.vantage,
        strict=arguments.strict,
    )
    cluster = clusters.cluster_without_airflow(arguments)
    proposed_listeners.check_plan(planned, cluster)
    store, document = commands.audit_and_report(arguments, say, "latest")
    view = audit.judged_view(store, document.snapshot_id)
    tried = proposed_listeners.probe_proposed_listeners(planned, view, cluster, os.environ, say)
    report = before.report_before_change(document, view, planned, tried, datetime.now(UTC))
    kept = report["verdict"] == verdicts.GO or arguments.keep
    if kept:
        say(f"baseline {Baselines(store.root).keep(report)}")
    console.write_result(
        json.dumps(report, indent=2)
        if arguments.format == "json"
        else plain_text.before_change_text(report, width=console.width(), kept=kept)
    )
    return verdicts.EXIT_CODES[report["verdict"]]


def after_migration_command(arguments: argparse.Namespace) -> int:
    """Snapshot, compare with the baseline, sort what changed by the plan."""
    say = console.Progress(quiet=arguments.quiet)
    baseline = Baselines(Store(arguments.out).root).find(arguments.cluster, arguments.baseline)
    store, document = commands.audit_and_report(arguments, say, baseline["snapshot_id"])
    snapshots = store.read(baseline["snapshot_id"]), store.read(document.snapshot_id)
    report = after.report_after_change(document, *snapshots, baseline, datetime.now(UTC))
    console.write_result(
        json.dumps(report, indent=2)
        if arguments.format == "json"
        else plain_text.after_change_text(report, width=console.width())
    )
    return verdicts.EXIT_CODES[report["verdict"]]
