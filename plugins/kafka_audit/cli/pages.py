"""The command that needs no cluster: `explain`."""

import argparse

from kafka_audit.checks import catalogue
from kafka_audit.cli.printing import console
from kafka_audit.report.plain_text import explain as explaining

NOT_DECIDED = 4


def explain_command(arguments: argparse.Namespace) -> int:
    """Print the page of a check or of an error message, what a line means, or the catalogue; 4 if nothing fits."""
    checks = catalogue()
    if not arguments.words:
        console.write_result(explaining.catalogue_text(checks, width=console.width(), color=console.has_color()))
        return 0
    found = explaining.explained(checks, " ".join(arguments.words), width=console.width(), color=console.has_color())
    console.write_result(found.text)
    return 0 if found.fits else NOT_DECIDED
