"""The command `lint`: files before a broker starts with them."""

import argparse
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from kafka_audit.checks import Check, catalogue
from kafka_audit.cli import clusters
from kafka_audit.cli.printing import console
from kafka_audit.cluster.view import ClusterView
from kafka_audit.lint import files, versions
from kafka_audit.lint.files import Outcome
from kafka_audit.lint.judging import Rules
from kafka_audit.model.cluster import Mute
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity
from kafka_audit.report import lint_document
from kafka_audit.report.ci import annotations, junit, sarif
from kafka_audit.report.plain_text import lint_terminal

CLEAN, UNREADABLE, FAILED = 0, 2, 3
"""Exit codes (contract)."""

_FEW_FILES = 20


def lint_command(arguments: argparse.Namespace) -> int:
    """Judge files; files that cannot be read are reported on stderr, and all others are judged."""
    checks = catalogue()
    rules = Rules(
        checks=checks,
        mutes=_mutes(arguments),
        today=datetime.now(UTC).date(),
        version=_version(arguments.kafka_version),
        against=_against(arguments),
        on_host=arguments.on_host,
        show_all=arguments.all,
    )
    outcome = files.lint_files(arguments.files, rules)
    for error in outcome.errors:
        console.complain(error)
    least = Severity[arguments.fail_on.upper()]
    text = _rendered(arguments, outcome, checks, least) if outcome.files or arguments.format != "text" else ""
    if text:
        console.write_result(text, commands=arguments.format == "github")
    if not outcome.files and not outcome.errors:
        msg = f"no broker configuration found in {', '.join(arguments.files)}"
        raise UsageError(msg)
    return UNREADABLE if outcome.errors else FAILED if outcome.fails(least) else CLEAN


def _rendered(arguments: argparse.Namespace, outcome: Outcome, checks: Mapping[str, Check], least: Severity) -> str:
    linted_files, show_all = outcome.files, arguments.all
    indent = 2 if len(linted_files) <= _FEW_FILES else None  # indenting takes five times as long
    match arguments.format:
        case "json":
            return json.dumps(lint_document.build_lint_document(linted_files, show_all=show_all), indent=indent)
        case "sarif":
            return json.dumps(sarif.build_sarif(linted_files, checks, show_all=show_all), indent=indent)
        case "junit":
            return junit.junit_xml(linted_files, fail_on=least, show_all=show_all)
        case "github":
            return annotations.github_annotations(linted_files)
        case _:
            return lint_terminal.lint_text(linted_files, show_all=show_all, width=console.width(), color=console.has_color())


def _version(wanted: str | None) -> str | None:
    try:
        if wanted is not None:
            versions.refuse_unsupported(wanted)
    except ValueError as error:
        msg = f"argument --kafka-version: {error}"
        raise UsageError(msg) from error
    return wanted


def _against(arguments: argparse.Namespace) -> ClusterView | None:
    """Return the newest snapshot of the cluster that is named."""
    if arguments.against is None:
        return None
    from kafka_audit.store import Store  # noqa: PLC0415 -- it brings pyarrow along, which files alone do without

    store = Store(arguments.out)
    manifest = store.newest(arguments.against)
    if manifest is None:
        msg = f"{arguments.out}: no snapshot of cluster {arguments.against!r}{store.instead_of(arguments.against)}"
        raise UsageError(msg)
    return ClusterView.of_files(store.read(manifest.snapshot_id, large=False))


def _mutes(arguments: argparse.Namespace) -> tuple[Mute, ...]:
    """Return the mute list of the cluster that is named; without one there is none."""
    if arguments.cluster is None:
        if arguments.config is not None:
            msg = "--config requires --cluster, the cluster whose mute list is used"
            raise UsageError(msg)
        return ()
    return clusters.cluster_named(arguments.config, arguments.cluster, clusters.codes()).mute
