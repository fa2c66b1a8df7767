"""What holds back replicas, or copies them."""
