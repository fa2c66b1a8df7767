"""ACLs as Kafka keeps them in ZooKeeper, and the grants that the documentation names for an auditor."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Acl:
    """One access control entry.

    Attributes:
        principal: such as ``User:auditor``.
        operation: such as ``Describe`` or ``ClusterAction``, spelled as in ``kafka-acls --list``.
        resource: ``Topic``, ``Group``, ``Cluster`` or ``TransactionalId``.
        name: of the resource; ``*`` for all, ``kafka-cluster`` for the cluster.
        pattern: ``LITERAL`` or ``PREFIXED``.
        permission: ``Allow`` or ``Deny``.
        host: client address, ``*`` for all.
    """

    principal: str
    operation: str
    resource: str = "Cluster"
    name: str = "kafka-cluster"
    pattern: str = "LITERAL"
    permission: str = "Allow"
    host: str = "*"

    def as_list(self) -> list[str]:
        """Return the fields in the order of `model.tables.Acl` and of the bed's Java programs."""
        return [self.resource, self.name, self.pattern, self.principal, self.host, self.operation, self.permission]

    def as_arguments(self) -> dict[str, str]:
        """Return the fields as strings, for a client script."""
        return asdict(self)


def auditor_grants(principal: str = "User:auditor") -> tuple[Acl, ...]:
    """Return the grants an audit asks for: Describe, DescribeConfigs on cluster and topics, Describe on groups, transactions."""
    return (
        *(Acl(principal=principal, operation=operation) for operation in ("Describe", "DescribeConfigs")),
        *(
            Acl(principal=principal, operation=operation, resource="Topic", name="*")
            for operation in ("Describe", "DescribeConfigs")
        ),
        *(Acl(principal=principal, operation="Describe", resource=kind, name="*") for kind in ("Group", "TransactionalId")),
    )
