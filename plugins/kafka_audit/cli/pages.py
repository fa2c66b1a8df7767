"""The command that needs no cluster: `explain`."""

import argparse

from kafka_audit.checks import catalogue
from kafka_audit.cli.printing import console
from kafka_audit.report.plain_text import explain as explaining


def explain_command(arguments: argparse.Namespace) -> int:
    """Print the page of a check or of an error message, or the catalogue."""
    checks = catalogue()
    if not arguments.words:
        console.write_result(explaining.catalogue_text(checks, width=console.width(), color=console.has_color()))
    else:
        words = " ".join(arguments.words)
        console.write_result(explaining.explained(checks, words, width=console.width(), color=console.has_color()))
    return 0
