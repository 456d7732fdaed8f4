"""SONiC: the QoS and buffer tables of `config_db.json`."""
