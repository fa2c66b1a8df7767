"""Forward one TCP address to another: ``forwarder.py LISTEN_ADDRESS LISTEN_PORT TARGET_HOST[,TARGET_HOST…] TARGET_PORT``.

With several hosts each connection goes to the next one, as a load balancer sends it.

Run as a script inside a host; imports nothing of the package. Says ``ready`` once it listens. With ``inherited`` for an address
the port is the descriptor of a socket that listens already, which may be one of another host.
"""

import asyncio
import contextlib
import itertools
import socket
import sys

CHUNK_BYTES = 65536
INHERITED = "inherited"


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy until end of file and pass that end on, so that half-closed connections work."""
    with contextlib.suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def serve(listen_address: str, listen_port: int, target_host: str, target_port: int) -> None:
    """Accept and forward for ever."""
    targets = itertools.cycle(target_host.split(","))

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            target_reader, target_writer = await asyncio.open_connection(next(targets), target_port)
        except OSError:
            writer.transport.abort()  # a reset, as nginx and socat give when their target refuses
            return
        await asyncio.gather(pump(reader, target_writer), pump(target_reader, writer))
        for end in (writer, target_writer):
            end.close()

    if listen_address == INHERITED:
        server = await asyncio.start_server(forward, sock=socket.socket(fileno=listen_port))
    else:
        server = await asyncio.start_server(forward, listen_address, listen_port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])))
