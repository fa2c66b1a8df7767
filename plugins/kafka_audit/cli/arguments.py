"""The command line: parsers of what `commands.yaml` says may be written.

Nothing heavy is imported here: `--help` and `explain` answer at once, the rest is imported by the command that needs it.
"""

import argparse
import functools
import importlib
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NoReturn

from kafka_audit import __version__
from kafka_audit.model import labels
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Severity
from kafka_audit.model.package_yaml import package_yaml
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


REPOSITORY = Path(__file__).resolve().parents[3]
"""Root of the clone that this package runs from; any other folder where the package was installed."""


def demo_command(argv: Sequence[str]) -> int:
    """Run the demo with its own arguments and return its exit code.

    Raises:
        UsageError: this installation is no clone of the repository.
    """
    if not (REPOSITORY / "testbed" / "demo.py").is_file():
        msg = "the demo requires a clone of the repository, because the test bed is not installed; run `make demo` in a clone"
        raise UsageError(msg)
    if str(REPOSITORY) not in sys.path:
        sys.path.insert(0, str(REPOSITORY))
    from testbed import demo  # noqa: PLC0415 -- only a clone has it

    return demo.main(argv)


LEAST_WATCH_S, MOST_WATCH_S = 2.0, 86_400.0

_PARTIES = ("broker", "rack", "controller", "disk", "zookeeper")
_MOST_COPIES = 100

_LINT_FORMATS = ("text", "json", "sarif", "junit", "github")


class _CommandParser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are `UsageError`s: one line with the remedy."""

    def error(self, message: str) -> NoReturn:
        msg = f"{message}{' See' if message.endswith('?') else '; see'} `{self.prog} --help`"
        raise UsageError(msg)


_OF_KAFKA = {"--broker-list": "--bootstrap", "--bootstrap-servers": "--bootstrap-server"}
"""Options of Kafka's own tools, with ours."""


def parse_arguments(argv: Sequence[str]) -> Callable[[], int]:
    """Return the command that `argv` asks for, ready to be called; raises `UsageError` for what it cannot mean."""
    parser = _parser()
    commands = _written()["commands"]
    if not argv or argv[0] == "help":
        parser.parse_args([*argv[1:2], "--help"])
    word = next((argument for argument in argv if not argument.startswith("-")), None)
    if argv and argv[0] in {"--bootstrap", "--bootstrap-server"}:
        parser.error(f"a command is missing: kafka-audit run {shlex.join(argv)}")
    if word is not None and word not in commands:
        parser.error(f"unknown command {word!r}{did_you_mean(word, commands)}")
    if word == "demo":  # it reads its own arguments
        return functools.partial(demo_command, argv[argv.index(word) + 1 :])
    if any(
        argument.get("metavar") == "FILE" and argument.get("nargs") for argument in commands.get(word, {}).get("arguments", ())
    ):
        _refuse_files_as_options(parser, argv)
    arguments, rest = parser.parse_known_args(argv)
    if rest:
        near = did_you_mean(_OF_KAFKA.get(rest[0], rest[0]), _options(parser, arguments.command))
        parser.error(f"unknown argument {rest[0]!r}{near}")
    arguments.typed = tuple(argv)
    return functools.partial(_call, arguments)


def _refuse_files_as_options(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Refuse an option that a file has as its name: who lists files, as hooks and shells do, may mean the file."""
    for argument in takewhile(lambda argument: argument != "--", argv):
        if argument.startswith("-") and os.path.lexists(argument):
            parser.error(
                f"{argument!r} is also the name of a file: write ./{argument} for the file, or -- before all names of files"
            )


def _call(arguments: argparse.Namespace) -> int:
    command = _written()["commands"][arguments.command]
    if command.get("audits"):
        importlib.import_module("kafka_audit.cli.clusters").demand_cluster(arguments)
    # Each command imports only what it needs.
    module = importlib.import_module(f"kafka_audit.cli.{command['module']}")
    code: int = getattr(module, f"{arguments.command.replace('-', '_')}_command")(arguments)
    return code


@cache
def _written() -> Mapping[str, Any]:
    found: Mapping[str, Any] = package_yaml(__package__, "commands.yaml")
    return found


def _parser() -> argparse.ArgumentParser:
    usual: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = _CommandParser(prog="kafka-audit", description=_written()["description"], **usual)
    parser.add_argument("--version", action="version", version=f"kafka-audit {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_CommandParser)
    for name, command in _written()["commands"].items():
        added = commands.add_parser(name, help=command["summary"], description=command.get("description", ""), **usual)
        added.set_defaults(**{key: _default(value) for key, value in command.get("defaults", {}).items()})
        for argument in command.get("arguments", ()):
            _add(added, **argument)
    return parser


def _add(parser: argparse.ArgumentParser, *, name: str, also: str = "", **options: Any) -> None:  # noqa: ANN401 -- of `add_argument`
    """Add an argument as the file has it."""
    if "default" in options:
        options["default"] = _default(options["default"])
    if (kind := options.get("type")) is not None:
        options["type"] = TYPES[kind]
    if kind == "formats":
        options["default"] = Forms(stdout=None, files=())
    parser.add_argument(*filter(None, (name, also)), **options)


def _default(value: object) -> object:
    return (os.environ.get("KAFKA_AUDIT_STORE") or "kafka-audit-store") if value == "$KAFKA_AUDIT_STORE" else value


def _party(text: str) -> str:
    if text not in _PARTIES:
        msg = f"{text!r} is none of {', '.join(_PARTIES)}{did_you_mean(text, _PARTIES)}"
        raise argparse.ArgumentTypeError(msg)
    return text


def _copies(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_COPIES:
        msg = f"{text!r} is not a number of copies from 1 to {_MOST_COPIES}"
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _severity(text: str) -> str:
    names = [severity.name.lower() for severity in reversed(Severity)]
    if text.lower() not in names:
        msg = f"{text!r} is not a severity; choose {', '.join(names)}{did_you_mean(text, names)}"
        raise argparse.ArgumentTypeError(msg)
    return text.lower()


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        msg = f"{text!r} is not a number from 0 to 1"
        raise argparse.ArgumentTypeError(msg)
    return share


def _label(text: str) -> tuple[str, str]:
    try:
        return labels.parse_label(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _watch_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not LEAST_WATCH_S <= seconds <= MOST_WATCH_S:
        msg = f"{text!r} is not a number of seconds from {LEAST_WATCH_S:g} to {MOST_WATCH_S:g}"
        raise argparse.ArgumentTypeError(msg)
    return seconds


def _lint_format(text: str) -> str:
    if text not in _LINT_FORMATS:
        msg = f"{text!r} is not a format; choose {', '.join(_LINT_FORMATS)}{did_you_mean(text, _LINT_FORMATS)}"
        raise argparse.ArgumentTypeError(msg)
    return text


TYPES: Mapping[str, Callable[[str], object]] = {
    "copies": _copies,
    "formats": parse_formats,
    "label": _label,
    "lint_format": _lint_format,
    "party": _party,
    "severity": _severity,
    "share": _share,
    "stdout_format": only_stdout,
    "watch_seconds": _watch_seconds,
}
"""Types of arguments, by their names in `commands.yaml`."""


def _options(parser: argparse.ArgumentParser, command: str) -> list[str]:
    """Return the option strings of a command."""
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 -- argparse has no public method to list them
    return [option for action in commands.choices[command]._actions for option in action.option_strings]  # noqa: SLF001 -- see above
