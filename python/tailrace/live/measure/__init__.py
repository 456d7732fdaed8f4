"""What is read of hosts, connections and cores, and the tables made of it."""
