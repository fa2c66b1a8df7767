"""One file in whatever form: which brokers it describes. Pure."""

import re

from kafka_audit.configuration.files import environment, java, manifests
from kafka_audit.configuration.files.described import Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError

_YAML = (".yaml", ".yml", ".json")
_MANIFEST = re.compile(r"^(?:apiVersion|kind|services|---)\b|^---", re.MULTILINE)
_TEMPLATE = re.compile(r"\{%|\{\{-?\s*(?:if|range|with|define|block)\b")


def read_described(data: bytes, name: str) -> tuple[Described, ...]:
    """Return the brokers that a file describes, none where it is about something else.

    Args:
        data: the file.
        name: its name; its ending distinguishes YAML from properties if the text does not.

    Raises:
        PropertiesError: it can be read in no form: binary, no YAML, a template; with the line.
    """
    if b"\0" in data:
        reported = "UTF-16 text, which Kafka does not read" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "binary"
        raise PropertiesError(data.count(b"\n", 0, data.index(b"\0")) + 1, f"is {reported}")
    if name.lower().endswith(_YAML):
        return manifests.parse_manifests(_utf8(data))
    properties = java.parse_properties(data)
    if is_brokers(properties):
        _refuse_template(data)
        return (described(properties),)
    text = data.decode("utf-8", "replace")
    variables = environment.parse_env_file(text)
    broker = environment.described_broker(variables)
    if broker is not None:
        return (broker,)
    if _MANIFEST.search(text):
        return manifests.parse_manifests(_utf8(data))
    return (described(properties),) if any(key.startswith("listener") for key in properties) else ()


def _utf8(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PropertiesError(data.count(b"\n", 0, error.start) + 1, "is not UTF-8 text") from error


def _refuse_template(data: bytes) -> None:
    match = _TEMPLATE.search(data.decode("latin-1"))
    if match is not None:
        line = data.count(b"\n", 0, match.start()) + 1
        raise PropertiesError(line, "is an unrendered template; lint the rendered files")
