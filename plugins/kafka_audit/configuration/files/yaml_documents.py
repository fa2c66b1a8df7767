"""A text of YAML as composed documents, within bounds. Pure."""

from collections.abc import Iterator

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.java import PropertiesError
from kafka_audit.model.package_yaml import LOADER


def composed(text: str) -> list[yaml.Node]:
    """Return the documents of a text, those of lists one by one; raises PropertiesError where it is no YAML."""
    loader = LOADER(text)
    nodes: list[yaml.Node] = []
    try:
        bounded_yaml.refuse_events(text)
        while loader.check_node():
            node = loader.get_node()
            bounded_yaml.refuse_aliases(node, merges_once=True)
            nodes += _documents(node, 0)
    except YamlLimitError as error:
        raise PropertiesError(error.line, str(error)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.context_mark if error.context == "while scanning a simple key" else error.problem_mark
        line = mark.line + 1 if mark else 1
        # YAML's own words quote the file, which may hold a password at that place; `problem` alone does not.
        raise PropertiesError(line, f"not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        raise PropertiesError(1, "not YAML: it contains a control character") from error
    except RecursionError as error:
        raise PropertiesError(1, "is nested too deeply") from error
    finally:
        loader.dispose()
    return nodes


def _documents(node: yaml.Node | None, depth: int) -> Iterator[yaml.Node]:
    root = yaml_nodes.mapping(node)
    if (yaml_nodes.text(root.get("kind")) or "").endswith("List") and depth < bounded_yaml.DEEPEST:
        for item in yaml_nodes.items(root.get("items")):
            yield from _documents(item, depth + 1)
    elif node is not None:
        yield node
