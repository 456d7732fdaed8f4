"""Ten EOS configurations, typed from the facts of public ones with names and surroundings of our
own.

The shapes are those of aristanetworks/avd (molecule/eos_cli_config_gen: qos, platform,
ethernet-interfaces, host2), batfish/batfish (arista_interface_show_run_all), and public guides to
RDMA on EOS (a session with a leaf and a spine profile, a reference design with segments, one with a
policy-map, one with maps and a strict queue, one with cos).
"""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "fuzz" / "seeds" / "eos"
FILES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.cfg"))}
