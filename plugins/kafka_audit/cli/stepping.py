"""The command `may`: whether a step may be taken now, from a fresh audit or a stored one."""

import argparse
import json

from kafka_audit.cli.asking import audited, basis_lines
from kafka_audit.cli.printing import console
from kafka_audit.may.asking import answer_by
from kafka_audit.may.plain_text import may_text
from kafka_audit.may.step import parse_step
from kafka_audit.migration.plan import Kind, plan
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean


def may_command(arguments: argparse.Namespace) -> int:
    """Answer, and return 0 for GO, 3 for NOT_NOW and NEVER, 4 for UNKNOWN."""
    step, say = parse_step(arguments.step), console.Progress(quiet=arguments.quiet)
    store, snapshot_id, bootstrap = audited(arguments, arguments.cluster, say, step.topics)
    store.verify_tables(snapshot_id)
    document = store.read_report(snapshot_id)
    if document is None:
        msg = f"snapshot {clean(snapshot_id)} was not judged; name the cluster, which is audited then"
        raise UsageError(msg)
    node_ids = plan(Kind.ZOOKEEPER_TO_KRAFT, node_ids=[part for part in arguments.node_ids.split(",") if part.strip()]).node_ids
    options = {"oldest_client": arguments.oldest_client, "node_ids": node_ids}
    found = answer_by(store, document, step, bootstrap=bootstrap, **options)
    if arguments.format == "json":
        console.write_result(json.dumps(found.to_plain(), indent=2))
    else:
        width = console.width()
        console.write_result(may_text(found, basis_lines(store, snapshot_id), width=width))
    return found.exit_code
