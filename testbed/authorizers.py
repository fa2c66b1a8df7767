"""Hold `configuration.authorization` against Kafka's authorizers: ``python -m testbed.authorizers --seed 7``."""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from kafka_audit.configuration import authorization
from kafka_audit.configuration.authorization import NO_ACL, STANDARD, SUPER_USERS
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.model.tables import Acl
from testbed.oracle import ask

ACL = "kafka.security.authorizer.AclAuthorizer"
AUTHORIZERS = (("3.9.1", ACL), ("4.4.0", STANDARD))
MORE = (("2.8.2", ACL), ("3.9.1", STANDARD), ("4.3.0", STANDARD))

_TYPES = ("Cluster", "Topic", "Group", "TransactionalId", "DelegationToken")
_ON_DATA = ("Read", "Write", "Create", "Delete", "Alter", "Describe", "ClusterAction")
_OPERATIONS = (*_ON_DATA, "DescribeConfigs", "AlterConfigs", "IdempotentWrite")
_USERS = ("kafka", "admin", "Kafka", "CN=broker-0,O=x", "ANONYMOUS", "a:b", "k", "ü", "")
_PRINCIPALS = ("User:*", *(f"User:{name}" for name in _USERS), "Group:kafka", "Group:*", "user:kafka")
_NETWORKS = ("10.0.0.0/31", "10.9.9.9/8", "10.0.0.0/33", "0.0.0.0/0", "::/0", "0::1/127", "host/8", "10.0.0/8")
_HOSTS = ("*", "10.0.0.1", "10.0.0.2", "0:0:0:0:0:0:0:1", "::1", "10.0.0.*", "host", *_NETWORKS)
_LOOPBACK = "0:0:0:0:0:0:0:1"  # as InetAddress.getHostAddress writes ::1
_ADDRESSES = ("10.0.0.1", "10.0.0.2", "::1")
_LETTERS = "ab-.*é~\U0001f600"  # names in which one is often the beginning of another, with `*` as a letter as well
_MOST_ACLS = 30
_TOLD = 10


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request: who asks for which operation on which resource, from which host."""

    principal: str
    host: str
    operation: str
    resource: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class World:
    """Settings of an authorizer, its ACLs, and requests."""

    settings: dict[str, str]
    acls: tuple[Acl, ...]
    requests: tuple[Request, ...]

    def asked(self) -> dict[str, object]:
        """Return it for the oracle."""
        acls = [
            [a.resource_type, a.resource_name, a.pattern_type, a.principal, a.host, a.operation, a.permission] for a in self.acls
        ]
        requests = [
            [*request.principal.split(":", 1), request.host, request.operation, *request.resource] for request in self.requests
        ]
        return {"settings": self.settings, "acls": acls, "requests": requests}


def worlds(seed: int, sets: int, requests: int) -> list[World]:
    """Return generated worlds, the same for the same seed; and half as many with odd settings, without ACLs."""
    dice = random.Random(seed)  # noqa: S311 -- cases, not keys
    return [_world(dice, requests) for _ in range(sets)] + [_odd(dice) for _ in range(sets // 2)]


def _at_times(dice: random.Random, share: float) -> bool:
    return dice.random() < share


def _world(dice: random.Random, requests: int) -> World:
    # No name begins before `*` and no user is named `*`: there StandardAuthorizer fails, see configuration.authorization.
    names = ["*", "a", *("a" + "".join(dice.choices(_LETTERS, k=dice.randint(0, 4))) for _ in range(6))]
    count = dice.choice((0, 1, 2, 5, dice.randint(3, _MOST_ACLS)))
    acls = tuple(dict.fromkeys(_acl(dice, names) for _ in range(count)))
    settings = {SUPER_USERS: ";".join(dice.choices(_PRINCIPALS, k=dice.randint(1, 3)))} if _at_times(dice, 0.5) else {}
    settings |= {NO_ACL: dice.choice(("true", "false", "TRUE"))} if _at_times(dice, 0.6) else {}
    return World(settings=settings, acls=acls, requests=tuple(_request(dice, names, acls) for _ in range(requests)))


def _odd(dice: random.Random) -> World:
    parts = dice.choices(
        (*_PRINCIPALS[:4], " User:kafka", "User: kafka ", "\tUser:admin", "", " ", "kafka", ":", "User:a,User:b"), k=3
    )
    settings = {SUPER_USERS: ";".join(parts), NO_ACL: dice.choice(("true", "true ", " FALSE", "", "yes", "1", "false"))}
    settings.pop(dice.choice((SUPER_USERS, NO_ACL, "neither")), None)
    return World(settings=settings, acls=(), requests=tuple(_request(dice, ("a",), ()) for _ in range(len(_USERS))))


def _resource(dice: random.Random, names: Sequence[str]) -> tuple[str, str]:
    kind = dice.choice(_TYPES)
    return kind, "kafka-cluster" if kind == "Cluster" and _at_times(dice, 0.9) else dice.choice(names)


def _acl(dice: random.Random, names: Sequence[str]) -> Acl:
    kind, name = _resource(dice, names)
    pattern = "PREFIXED" if _at_times(dice, 0.4) else "LITERAL"
    return Acl(
        acls_digest="generated",
        resource_type=kind,
        resource_name=name[: dice.randint(1, len(name))] if pattern == "PREFIXED" else name,
        pattern_type=pattern,
        principal=dice.choice(_PRINCIPALS[:3] if _at_times(dice, 0.7) else _PRINCIPALS),
        host=dice.choice(_HOSTS[:2] if _at_times(dice, 0.8) else _HOSTS),
        operation=dice.choice((*_OPERATIONS, "All", "All")),
        permission="DENY" if _at_times(dice, 0.25) else "ALLOW",
    )


def _request(dice: random.Random, names: Sequence[str], acls: Sequence[Acl]) -> Request:
    kind, name = _resource(dice, names)
    if acls and _at_times(dice, 0.7):  # most are about what there is an ACL for
        about = dice.choice(acls)
        kind, name = about.resource_type, about.resource_name + (dice.choice(_LETTERS) if _at_times(dice, 0.3) else "")
    principal = f"{dice.choice(('User',) * 9 + ('Group',))}:{dice.choice(_USERS[:3] if _at_times(dice, 0.7) else _USERS)}"
    operation = dice.choice((*_OPERATIONS, "Describe", "DescribeConfigs"))
    return Request(principal=principal, host=dice.choice(_ADDRESSES), operation=operation, resource=(kind, name))


def ours(world: World, version: str, authorizer: str) -> dict[str, str]:
    """Return our answer in the shape of the oracle's."""
    refused = authorization.authorizer_refusal(authorizer, world.settings, trims=version >= "3.6")
    if refused:
        return {"refused": refused[1]}
    supers = authorization.super_users(world.settings.get(SUPER_USERS, ""))
    everyone = authorization.allows_everyone(world.settings.get(NO_ACL, ""))
    may = partial(
        authorization.authorized,
        super_users=supers,
        allow_everyone_if_no_acl=everyone,
        authorizer=authorizer,
        networks=behaviour("acl_networks").holds(version),
    )
    asked = [
        (request.principal, request.host.replace("::1", _LOOPBACK), request.operation, request.resource)
        for request in world.requests
    ]
    return {"allowed": "".join("01"[may(*question, world.acls).allowed] for question in asked)}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How far we agree with one authorizer."""

    decisions: int
    allowed: int
    refused: int
    differences: tuple[str, ...]


def compare(version: str, authorizer: str, cases: Sequence[World]) -> Outcome:
    """Ask one authorizer and ourselves about every request."""
    oracle_answers = ask("AuthorizerOracle", version, [case.asked() for case in cases], authorizer)
    differences: list[str] = []
    for number, (world, theirs) in enumerate(zip(cases, oracle_answers, strict=True)):
        mine = ours(world, version, authorizer)
        if mine == theirs:
            continue
        at = next(
            (i for i, (a, b) in enumerate(zip(mine.get("allowed", ""), theirs.get("allowed", ""), strict=False)) if a != b), 0
        )
        differences.append(f"set {number}: ours {mine}, Kafka {theirs}, first at {asdict(world.requests[at])}; {world.settings}")
    answers = "".join(answer.get("allowed", "") for answer in oracle_answers)
    refused = sum("refused" in answer for answer in oracle_answers)
    return Outcome(decisions=len(answers), allowed=answers.count("1"), refused=refused, differences=tuple(differences))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compare."""
    parser = argparse.ArgumentParser(prog="python -m testbed.authorizers", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000), help="default: another each time")
    parser.add_argument("--sets", type=int, default=1000, help="ACL sets (default 1000)")
    parser.add_argument("--requests", type=int, default=100, help="requests for each set (default 100)")
    parser.add_argument("--more", action="store_true", help="the authorizers of 2.8.2 and, without ZooKeeper, 3.9.1 too")
    options = parser.parse_args(arguments)
    cases = worlds(options.seed, options.sets, options.requests)
    worst = 0
    for version, authorizer in AUTHORIZERS + (MORE if options.more else ()):
        found = compare(version, authorizer, cases)
        worst |= bool(found.differences)
        asked = f"{options.sets} ACL sets and {len(cases) - options.sets} odd settings ({found.refused} refused)"
        answered = f"{found.decisions} decisions, {found.allowed} allowed, {len(found.differences)} differ"
        sys.stdout.write(f"{version} {authorizer.rpartition('.')[2]}, seed {options.seed}: {asked}, {answered}\n")
        sys.stdout.writelines(f"  {difference}\n" for difference in found.differences[:_TOLD])
    return worst


if __name__ == "__main__":
    sys.exit(main())
