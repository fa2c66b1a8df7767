from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_files
from kafka_audit.model.read_failure import ReadFailure

_OF_FILE = "properties"


@check(code="KA715", severity=Severity.HIGH, by_files=True)
def node_id_twice(view: ClusterView) -> Judgements:
    """Two files of one cluster have the same node id."""
    settings = view.settings
    twice = {
        int(read.observer.partition(":")[2]): read
        for read in view.last_reads
        if read.operation.split()[0] == _OF_FILE and read.failure is ReadFailure.TWO_FILES
    }
    for node in sorted({*settings.every_file, *twice}):
        resource = settings.resource(node)
        read, key = twice.get(node), settings.first_set(node, "node.id", "broker.id")
        if read is None:
            yield view.judge(resource, Status.PASS, node=node)
            continue
        severity = Severity.MEDIUM if read.operation == _OF_FILE else None
        yield view.judge(resource, Status.FAIL, node=node, files=read.message or "", key=key, severity=severity)
    if not settings.every_file and not twice:
        yield from no_files(view)
