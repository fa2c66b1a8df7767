"""The command `logs`: a diagnosis from nothing but logs."""

import argparse
import io
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from kafka_audit.checks import catalogue
from kafka_audit.cli.printing import console
from kafka_audit.collect.logs.pieces import LogFile
from kafka_audit.lint.logged import logged_risks
from kafka_audit.logs.diagnosis import exit_code, log_document
from kafka_audit.logs.redaction import Redaction
from kafka_audit.logs.tally import LogTally
from kafka_audit.model.errors import UsageError
from kafka_audit.report import log_report

_LOG = re.compile(r"\.(?:log|out)\b")


def logs_command(arguments: argparse.Namespace) -> int:
    """Read logs, print the diagnosis; 3 if a cause is named, 4 if something is not explained or was not read."""
    tally = LogTally()
    for name in [path for named in arguments.files for path in _in_folder(named)]:
        if name == "-":
            tally.read(
                LogFile(
                    "stdin", io.BufferedReader(sys.stdin.buffer.raw) if hasattr(sys.stdin.buffer, "raw") else sys.stdin.buffer
                )
            )
            continue
        try:
            with open(name, "rb") as stream:  # noqa: PTH123 -- `-` stands among the paths
                tally.read(LogFile(name, stream))
        except OSError as error:
            msg = f"{name} cannot be read: {error.strerror}"
            raise UsageError(msg) from error
    redact = Redaction([who for _, who, _ in tally.writers]) if arguments.redact else str
    document = log_document(tally, redact)
    document["risks"] += logged_risks(tally, catalogue(), datetime.now(UTC).date(), redact)
    console.write_result(_rendered(document, arguments.format))
    return exit_code(document)


def _in_folder(name: str) -> list[str]:
    """Return the logs below a folder in the order of their names; any other name as it is."""
    if name == "-" or not Path(name).is_dir():
        return [name]
    found = sorted(str(path) for path in Path(name).rglob("*") if path.is_file() and _LOG.search(path.name))
    if not found:
        msg = f"{name} is a folder without logs (*.log, *.log.1, *.log.gz, *.out)"
        raise UsageError(msg)
    return found


def _rendered(document: dict[str, object], form: str) -> str:
    match form:
        case "json":
            return json.dumps(document, indent=2)
        case "md":
            return log_report.log_markdown(document)[:-1]
        case "html":
            return log_report.log_html(document)
        case _:
            return log_report.log_text(document, width=console.width())
