"""Prints the VMs of a folder, without the driver: the inventory of the conformance suite (`--inventory`)."""

import json, sys
from pathlib import Path

vms = [(path.stem, json.loads(path.read_text())) for path in Path(sys.argv[1]).glob("*.json")]
shown = [{"id": id, "machineName": vm["owner"]["name"], "tags": vm["owner"], "userData": vm["userData"]} for id, vm in vms]
print(json.dumps({"vms": shown}))
