"""The command `may`: whether a step may be taken now, from a fresh audit or a stored one."""

import argparse
import json

from kafka_audit.cli import clusters, commands
from kafka_audit.cli.asking import basis_lines
from kafka_audit.cli.printing import console
from kafka_audit.may.asking import answer_by
from kafka_audit.may.plain_text import may_text
from kafka_audit.may.step import TypedStep, parse_step
from kafka_audit.migration.plan import Kind, plan
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean
from kafka_audit.store import Store
from kafka_audit.store.manifest import cluster_of


def may_command(arguments: argparse.Namespace) -> int:
    """Answer, and return 0 for GO, 3 for NOT_NOW and NEVER, 4 for UNKNOWN."""
    step, say = parse_step(arguments.step), console.Progress(quiet=arguments.quiet)
    store, document, bootstrap = _audited(arguments, step, say)
    node_ids = plan(Kind.ZOOKEEPER_TO_KRAFT, node_ids=[part for part in arguments.node_ids.split(",") if part.strip()]).node_ids
    options = {"oldest_client": arguments.oldest_client, "node_ids": node_ids}
    found = answer_by(store, document, step, bootstrap=bootstrap, **options)
    if arguments.format == "json":
        console.write_result(json.dumps(found.to_plain(), indent=2))
    else:
        width = console.width()
        console.write_result(may_text(found, basis_lines(store, document.snapshot_id), width=width))
    return found.exit_code


def _audited(arguments: argparse.Namespace, step: TypedStep, say: console.Progress) -> tuple[Store, Report, tuple[str, ...]]:
    """Return the report of a stored snapshot, or of an audit that is made now, and the addresses of the cluster file."""
    store, described = Store(arguments.out), clusters.clusters_if_any(arguments.config)
    if cluster_of(arguments.cluster) is not None:
        manifest = store.manifest(arguments.cluster)
    elif arguments.cluster in described or (newest := store.newest(arguments.cluster)) is None:
        cluster = clusters.cluster_without_airflow(arguments)
        store, document = commands.audit_and_report(arguments, say, "latest", topics=step.topics)
        return store, document, cluster.bootstrap
    else:  # audited by an address: no file describes it
        manifest = newest
        say(f"no cluster file describes {clean(newest.cluster)}: its newest snapshot is asked")
    store.verify_tables(manifest.snapshot_id)
    stored = store.read_report(manifest.snapshot_id)
    if stored is None:
        msg = f"snapshot {clean(manifest.snapshot_id)} was not judged; name the cluster, which is audited then"
        raise UsageError(msg)
    return store, stored, described[manifest.cluster].bootstrap if manifest.cluster in described else ()
