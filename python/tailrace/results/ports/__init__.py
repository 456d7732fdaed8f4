"""What happened at ports: rates, drops, pauses, waiting, queues."""
