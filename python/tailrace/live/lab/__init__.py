"""The lab: hosts joined by the fabric, and the programs that run in them."""
