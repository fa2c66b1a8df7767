"""Whether controllers may reject each other: one that does not follow then exits, and a start does not help."""

from collections.abc import Iterable

from kafka_audit.cluster.view import ClusterView


def may_be_rejected(view: ClusterView, nodes: Iterable[int]) -> bool:
    """Return whether nothing rules out that other controllers reject these nodes.

    It is ruled out where no node runs an authorizer, or where the logs of all other controllers were read, of which KA220 reports
    what they say. Settings show it in KA222, KA713 and KA714, where the files of both sides were read.
    """
    between = view.inter_broker
    states = {between.authorizer(node).state for node in (*between.brokers, *view.settings.with_controller_role)}
    if states == {"unset"}:
        return False
    voters = {*view.quorum.now.voters, *view.voter_addresses} - {*nodes}
    logged = {node for node, reads in view.reads.of_logs.items() if reads[-1].outcome == "answered"}
    return not voters or not voters <= logged
