"""What a step would do to the cluster in a view: rules that no check and no loss covers. Pure."""
