"""Prints the VMs of a folder, and their Nodes as a cloud controller manager would write them, without the driver: the inventory of the conformance suite (`--inventory`)."""

import json, sys
from pathlib import Path

vms = [(path.stem, json.loads(path.read_text())) for path in Path(sys.argv[1]).glob("*.json")]
shown = [{"id": id, "machineName": vm["owner"]["name"], "tags": vm["owner"], "userData": vm["userData"]} for id, vm in vms]
nodes = [{"machineName": vm["owner"]["name"], "providerId": f"folder:///{vm['owner']['cluster']}/{id}"} for id, vm in vms]
print(json.dumps({"vms": shown, "nodes": nodes}))
