"""`docker-compose.yaml` and `Dockerfile` as data, as docker-compose itself reads them: variables filled in, merges done."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import yaml

from airflow_environment import ROOT

FILE = ROOT / "docker-compose.yaml"
SECRETS: Mapping[str, str] = MappingProxyType(
    {
        "AIRFLOW_ADMIN_PASSWORD": "of-the-admin",
        "AIRFLOW_FERNET_KEY": "c29tZS0zMi1ieXRlcy1mb3ItdGVzdHMtb25seS0hISE=",
        "AIRFLOW_JWT_SECRET": "j" * 64,
        "AIRFLOW_SECRET_KEY": "s" * 64,
        "POSTGRES_PASSWORD": "OfTheDatabase1",
    }
)
"""What `.env` must hold, with values for tests."""

_VARIABLE = re.compile(r"\$(?:(?P<escaped>\$)|\{(?P<name>\w+)(?:(?P<how>:[-?])(?P<rest>(?:[^{}]|\{[^{}]*\})*))?\})")


class Missing(Exception):  # noqa: N818 -- what docker-compose says, not what went wrong
    """A variable that is required and not set; its text is the file's own."""


def read(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the file with variables filled in, raising `Missing` as docker-compose does."""
    return _filled(yaml.safe_load(FILE.read_text(encoding="utf-8")), environment)


def services(environment: Mapping[str, str] = SECRETS, profile: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the services of a profile, or those of none."""
    found = read(environment)["services"]
    return {name: service for name, service in found.items() if service.get("profiles", [None]) == [profile]}


def variables() -> dict[str, tuple[str, str]]:
    """Return each variable that the file asks for, with `:-` or `:?` and what follows."""
    text = FILE.read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {match["name"]: (match["how"] or "", match["rest"] or "") for match in _VARIABLE.finditer(lines) if match["name"]}


def image_environment() -> dict[str, str]:
    """Return what the Dockerfile sets for every container."""
    (block,) = re.findall(r"^ENV ((?:.*\\\n)*.*)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    return dict(word.split("=", 1) for word in block.replace("\\\n", " ").split())


def _filled(value: Any, environment: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, environment) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, environment) for item in value]
    return _VARIABLE.sub(lambda match: _value(match, environment), value) if isinstance(value, str) else value


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    if match["escaped"]:
        return "$"
    found = environment.get(match["name"], "")
    if not found and match["how"] == ":?":
        message = f"{match['name']}: {match['rest']}"
        raise Missing(message)
    return found or (match["rest"] if match["how"] else "")
