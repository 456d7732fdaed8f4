"""Results of ports: rates, drops, pauses, waiting, queues."""
