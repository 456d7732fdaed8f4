"""Arista EOS: reads QoS statements of a running configuration."""
