"""The command `what-if`: what stops when parties are lost, on a live cluster or by a stored snapshot."""

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime

from kafka_audit.cli import clusters, commands
from kafka_audit.cli.printing import console
from kafka_audit.cluster.view import ClusterView
from kafka_audit.job.losses import answers
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean, our_line
from kafka_audit.report.plain_text.what_if import answer_text, answers_text
from kafka_audit.report.text import time_span
from kafka_audit.report.what_if import losses
from kafka_audit.store import Store
from kafka_audit.store.manifest import cluster_of, taken_at
from kafka_audit.what_if.answer import NOT_DECIDED, NOT_SAFE, SAFE
from kafka_audit.what_if.losses import PartyLoss, combined, every, loss_named, parse

_OPEN = 3  # incidents that are named


def what_if_command(arguments: argparse.Namespace) -> int:
    """Answer, and return 0 for safe, 3 for not safe, 4 for not decided."""
    say = console.Progress(quiet=arguments.quiet)
    if bool(arguments.without) == bool(arguments.each):
        msg = "name what is lost: --without broker:2 (may be repeated), or --each broker"
        raise UsageError(msg)
    for text in arguments.without:
        parse(text)
    store, snapshot_id, bootstrap = audited(arguments, arguments.subject, say)

    def asked(view: ClusterView) -> Sequence[PartyLoss]:
        if arguments.without:
            return [combined(loss_named(view, text) for text in arguments.without)]
        found = every(view, arguments.each)
        if not found:
            msg = f"{snapshot_id}: the cluster has no {arguments.each}, or none was read"
            raise UsageError(msg)
        return found

    complete = bool(arguments.without) or arguments.format == "json"
    view, found = answers(store, snapshot_id, asked, margin=arguments.margin - 1, bootstrap=bootstrap, complete=complete)
    if arguments.format == "json":
        documents = [losses.loss_document(answer, view) for answer in found]
        heading = {"snapshot_id": snapshot_id}
        whole = heading | documents[0] if arguments.without else heading | {"each": arguments.each, "losses": documents}
        console.write_result(json.dumps(whole, indent=2))
    else:
        width, basis = console.width(), basis_lines(store, snapshot_id)
        one = bool(arguments.without)
        text = (
            answer_text(found[0], view, basis=basis, width=width) if one else answers_text(found, view, basis=basis, width=width)
        )
        console.write_result(text)
    codes = {answer.exit_code for answer in found}
    return next(code for code in (NOT_SAFE, NOT_DECIDED, SAFE) if code in codes)


def audited(
    arguments: argparse.Namespace, name: str | None, say: console.Progress, topics: frozenset[str] = frozenset()
) -> tuple[Store, str, tuple[str, ...]]:
    """Return store, id and the cluster file's addresses of a stored snapshot, or of an audit that is made now.

    Args:
        arguments: of the command.
        name: the id of a snapshot, or a cluster; None: the cluster at `arguments.bootstrap`.
        say: hears each step.
        topics: those that a user asks about, of which more is read.
    """
    store, described = Store(arguments.out), clusters.clusters_if_any(arguments.config)
    stored = None
    if name is not None and cluster_of(name) is not None:
        stored = store.manifest(name)
    elif name is not None and name not in described:  # audited by an address: no file describes it
        stored = store.newest(name)
        if stored is not None:
            say(f"no cluster file describes {clean(stored.cluster)}: its newest snapshot is asked")
    if stored is not None:
        addresses = described[stored.cluster].bootstrap if stored.cluster in described else ()
        return store, stored.snapshot_id, addresses
    arguments.cluster = name
    cluster = clusters.cluster_without_airflow(arguments)
    store, document = commands.audit_and_report(arguments, say, "latest", topics=topics)
    return store, document.snapshot_id, cluster.bootstrap


def basis_lines(store: Store, snapshot_id: str) -> list[str]:
    """Return what is asked, of when it is, and which incidents were open then: an answer is no better than its snapshot."""
    manifest, document = store.manifest(snapshot_id), store.read_report(snapshot_id)
    taken = taken_at(snapshot_id)
    age = f", {time_span((datetime.now(UTC) - taken).total_seconds())} ago" if taken else ""
    lines = [f"This is {clean(manifest.cluster)} as of {f'{taken:%d %b %Y %H:%M:%S} UTC' if taken else snapshot_id}{age}."]
    shown = document.incidents[:_OPEN] if document else ()
    more = ["Open incidents at that time:", *(f"- {one.severity} {our_line(one.headline)}" for one in shown)]
    return lines + (more if shown else [])
