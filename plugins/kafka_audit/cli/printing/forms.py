"""What `--format` may say: text or JSON goes to stdout, HTML, Markdown, SARIF and OpenMetrics go to files beside the report."""

import argparse
from dataclasses import dataclass

from kafka_audit.model.text import did_you_mean

STDOUT = ("text", "json")
FILES = ("html", "md", "sarif", "openmetrics")


@dataclass(frozen=True, kw_only=True)
class Forms:
    """`stdout` is text or json, None where nothing of the two was named; `files` are endings."""

    stdout: str | None
    files: tuple[str, ...]

    @property
    def page(self) -> str:
        """What goes to stdout where something must."""
        return self.stdout or "text"


def parse_formats(text: str) -> Forms:
    """Read a list of forms; raises `ArgumentTypeError` for words that are none, and for two results on one stdout."""
    names = text.split(",")
    for name in names:
        if name not in {*STDOUT, *FILES}:
            known = ", ".join((*STDOUT, *FILES))
            msg = f"{name!r} is not a format; choose {known}{did_you_mean(name, [*STDOUT, *FILES])}"
            raise argparse.ArgumentTypeError(msg)
    reported = list(dict.fromkeys(name for name in names if name in STDOUT))
    if len(reported) > 1:
        msg = f"{text!r}: only one format can be printed to stdout; choose {' or '.join(STDOUT)} (DIR/findings.json is JSON)"
        raise argparse.ArgumentTypeError(msg)
    return Forms(stdout=reported[0] if reported else None, files=tuple(name for name in FILES if name in names))


def only_stdout(text: str) -> Forms:
    """Read the form of a command that writes no file."""
    if text not in STDOUT:
        msg = f"{text!r} is not a format of this command; choose {' or '.join(STDOUT)}{did_you_mean(text, STDOUT)}"
        raise argparse.ArgumentTypeError(msg)
    return Forms(stdout=text, files=())
