"""Run by the Python of an environment: prints as JSON what Airflow found there, and which names of Airflow exist.

Reads a list of `[module, name]` from standard input; the name is empty where the module itself is asked for.
"""

import importlib
import json
import sys

from airflow import plugins_manager
from airflow.configuration import conf

try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:  # Airflow 3.1
    from airflow.models.dagbag import DagBag  # type: ignore[no-redef]


def _exists(module: str, name: str) -> bool:
    try:
        found = importlib.import_module(module)
        if name and not hasattr(found, name):
            importlib.import_module(f"{module}.{name}")
    except ImportError:
        return False
    return True


def _plugins() -> tuple[list[str], dict[str, str]]:
    """Return the sources of the plugin `kafka_audit`, and import errors; Airflow 3.1 keeps both in variables."""
    plugins_manager.ensure_plugins_loaded()
    if hasattr(plugins_manager, "get_import_errors"):
        # Nothing public has the source of a plugin.
        plugins, errors = plugins_manager._get_plugins()[0], plugins_manager.get_import_errors()  # noqa: SLF001
    else:
        kept = vars(plugins_manager)
        plugins, errors = kept["plugins"], kept["import_errors"]
    return [str(plugin.source) for plugin in plugins if plugin.name == "kafka_audit"], dict(errors)


def main() -> None:
    """Print what was found, on a line of its own."""
    names = json.load(sys.stdin)
    plugins, plugin_errors = _plugins()
    bag = DagBag(conf.get("core", "dags_folder"))
    found = {
        "plugins": plugins,
        "plugin_errors": plugin_errors,
        "dags": sorted(bag.dags),
        "dag_errors": {str(file): str(error).strip().splitlines()[-1] for file, error in bag.import_errors.items()},
        "package": importlib.import_module("kafka_audit").__file__,
        "names": {f"{module}:{name}": _exists(module, name) for module, name in names},
    }
    sys.stdout.write(f"\nFOUND {json.dumps(found)}\n")


if __name__ == "__main__":
    main()
