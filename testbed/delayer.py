"""Hold back all that a host sends, as a distant host or a slow link does: ``delayer.py ADDRESS NETWORK MILLISECONDS``.

Run as a script inside the host; imports nothing of the package. Prints ``ready`` once it delays; its end is the end of the
delay. Small kernels lack the netem module of tc. So the packets are routed to a TUN device, and each is sent by a raw socket
after its time.
"""

import asyncio
import fcntl
import ipaddress
import os
import socket
import struct
import subprocess
import sys

DEVICE, LINK = "late0", "eth0"
PACKET_BYTES = 65536
TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000  # IP packets, without a header of the device
DESTINATION = slice(16, 20)


def opened() -> int:
    """Make the TUN device and return its descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return device


def route(address: str, network: str) -> None:
    """Send what goes to the network through the device: its halves are more specific than the route of the link."""
    lines = [f"link set {DEVICE} up"]
    lines += [f"route add {half} dev {DEVICE} src {address}" for half in ipaddress.ip_network(network).subnets()]
    subprocess.run(["ip", "-batch", "-"], input="\n".join(lines) + "\n", text=True, check=True)


async def serve(device: int, seconds: float) -> None:
    """Send each packet after its time, for ever."""
    link = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, LINK.encode())
    link.settimeout(0)
    loop = asyncio.get_running_loop()

    def send(packet: bytes) -> None:
        try:
            link.sendto(packet, (socket.inet_ntoa(packet[DESTINATION]), 0))
        except OSError:
            return  # lost, as packets are; the sender repeats it

    def read() -> None:
        packet = os.read(device, PACKET_BYTES)
        if packet[0] >> 4 == 4:  # noqa: PLR2004 - the version; a device without an address sends IPv6 to find routers
            loop.call_later(seconds, send, packet)

    loop.add_reader(device, read)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await loop.create_future()


if __name__ == "__main__":
    descriptor = opened()
    route(sys.argv[1], sys.argv[2])
    asyncio.run(serve(descriptor, int(sys.argv[3]) / 1000))
