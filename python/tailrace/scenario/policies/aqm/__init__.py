"""Active queue management: which frames are marked or dropped before a queue is full. One module for each mechanism."""
