"""How much the loop that runs does in one step, as a count: a slow machine changes no count."""

import asyncio
import gc
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

MOST_WORK = 15_000
"""The bound for the triggerer's loop: lines and calls of Python in one step of it, a few thousandths of a second.

A small reading on the loop takes 16,000, one of brokers that list 19,000 others 260,000.
"""

_WIRE = ("kafka.", "kazoo.")  # libraries that read what a party sends
_HEAVY = frozenset({"pbkdf2_hmac", "do_handshake", "getaddrinfo", "connect"})  # one call of C, which lasts


@dataclass
class Steps:
    """What a loop did.

    Attributes:
        work: lines and calls of each step.
        foreign: names of what belongs on a thread, and ran on the loop.
    """

    work: list[int] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)

    @property
    def most(self):
        """The work of the longest step."""
        return max(self.work)


@asynccontextmanager
async def counted_steps():
    """Yield the steps of the loop that runs, until the end."""
    steps, work, begun = Steps(), 0, 0
    handle_run = asyncio.Handle._run

    def trace(frame, event, _argument):
        nonlocal work
        work += event in {"call", "line"}
        if event == "call" and (module := frame.f_globals.get("__name__", "")).startswith(_WIRE):
            steps.foreign.add(module)
        return trace

    def profile(_frame, event, argument):
        nonlocal work
        if event == "c_call":
            work += 1
            if getattr(argument, "__name__", None) in _HEAVY:
                steps.foreign.add(argument.__name__)

    def end_step():
        nonlocal begun
        steps.work.append(work - begun)
        begun = work

    def run(handle):
        handle_run(handle)
        end_step()

    gc.collect()
    gc.freeze()  # the collector does not go through what the tests have imported
    tracer, profiler = sys.gettrace(), sys.getprofile()
    asyncio.Handle._run = run
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        yield steps
    finally:
        sys.setprofile(profiler)
        sys.settrace(tracer)
        asyncio.Handle._run = handle_run
        end_step()
