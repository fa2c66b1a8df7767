"""What stops when brokers, racks, controllers, disks or ZooKeeper servers go: a pure answer from one view of a cluster."""
