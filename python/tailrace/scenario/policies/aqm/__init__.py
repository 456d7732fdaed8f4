"""Active queue management: marks or drops frames before a queue is full. One module for each
mechanism."""
