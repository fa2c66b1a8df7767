"""What stops when brokers, racks, controllers, disks or ZooKeeper servers are lost: a pure answer from one view of a cluster."""
