"""The command `mcp`: a server for programs that hold a conversation."""

import argparse

from kafka_audit.cli.engines import require_package


def mcp_command(arguments: argparse.Namespace) -> int:
    """Serve a store by the Model Context Protocol on stdin and stdout, until stdin ends."""
    require_package("mcp", "mcp")
    from kafka_audit.agents.server import create_server  # noqa: PLC0415 -- the extra is not always installed

    create_server(arguments.store).run("stdio")
    return 0
