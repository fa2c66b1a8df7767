"""The JSON Schema of `findings.json`, made of the structs of `model.report`."""

import inspect
import json
import re
from typing import Any

import msgspec

from kafka_audit.model import report

_ATTRIBUTE = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


_WIDTH = 150


def findings_schema() -> dict[str, Any]:
    """Return the schema. It names every field: one that is not of a report is an error of its writer."""
    _, parts = msgspec.json.schema_components((report.Report,), ref_template="#/$defs/{name}")
    for part in parts.values():
        for field in part.get("properties", {}).values():
            field.pop("default", None)  # what a reader takes an older report to say
    found = {name: _described(getattr(report, name, None), part) for name, part in sorted(parts.items())}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:kafka-audit:findings:{report.SCHEMA_VERSION}",
        **found.pop(report.Report.__name__),
        "title": "findings.json of kafka-audit",
        "$defs": found,
    }


def schema_text() -> str:
    """Return the schema as `make docs` writes it: what fits is one line."""
    return f"{_text(findings_schema(), 0)}\n"


def _text(value: object, indent: int) -> str:
    text = json.dumps(value)
    if not isinstance(value, dict) or len(text) + indent <= _WIDTH:
        return text
    lines = (f"{' ' * (indent + 2)}{json.dumps(key)}: {_text(inner, indent + 2)}" for key, inner in value.items())
    return "{\n" + ",\n".join(lines) + f"\n{' ' * indent}" + "}"


_ADDED = frozenset({
    "absent", "candidates", "controller", "controller_endpoints", "controllers", "explains", "lines", "next_failure",
    "passed_checks", "quorum", "remedy", "target", "views",
})  # fmt: skip
"""Fields that reports of version 2 may lack. Others with a default are lacking in earlier ones alone, which no store takes."""


def _described(struct: type[msgspec.Struct] | None, part: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a struct with the sentences of its docstring at the fields that they are about."""
    if struct is None or "properties" not in part:
        return part
    text, _, attributes = inspect.cleandoc(struct.__doc__ or "").partition("\n\nAttributes:\n")
    names = {field.name: field.encode_name for field in msgspec.structs.fields(struct)}
    properties = part["properties"]
    for name, sentence in _ATTRIBUTE.findall(attributes):
        properties[names[name]] = {"description": _line(sentence), **properties[names[name]]}
    optional = struct.__struct_config__.omit_defaults
    part["required"] = [
        field.encode_name
        for field in msgspec.structs.fields(struct)
        if field.required or not (optional or field.default is msgspec.UNSET or field.name in _ADDED)
    ]
    return {**part, "description": _line(text), "additionalProperties": False}


def _line(text: str) -> str:
    return " ".join(text.split())
