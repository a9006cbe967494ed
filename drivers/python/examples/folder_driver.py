"""A driver whose VMs are files of a folder. Run it with the folder (default: vms in that of temporary files), and the path of a unix socket (default: MILLWRIGHT_DRIVER_SOCKET)."""

import base64, contextlib, hashlib, json, os, pathlib, sys, tempfile

from millwright_driver import ListedVm, MachineError, Vm, serve


class FolderDriver:
    name, version = "folder", "1"

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def validate(self, spec, for_existing_vm):
        if not (isinstance(spec.get("cluster"), str) and 0 < len(spec["cluster"]) < 64):
            yield "cluster", "must be a text of 1 to 63 characters"
        if for_existing_vm:  # A VM of a class that became invalid is still found, by its cluster.
            return
        if spec.get("size") not in ("small", "large"):
            yield "size", "must be small or large"
        yield from ((key, "is not a field of this driver") for key in spec if key not in ("cluster", "size"))

    def create_machine(self, call):
        vm = {"owner": owner_of(call), "size": call.spec["size"], "userData": base64.b64encode(call.user_data).decode()}
        # The name of the file follows from the machine, so that a repeated call finds it. The file appears with its content.
        path = self.path_of(call)
        with tempfile.NamedTemporaryFile("w", dir=self.folder) as file:
            print(json.dumps(vm), file=file, flush=True)
            with contextlib.suppress(FileExistsError):
                os.link(file.name, path)
        if self.find(call)[1]["size"] != vm["size"]:
            raise MachineError("AlreadyExists", f"VM {path.stem} has another size")
        return vm_at(path, vm)

    def get_machine_status(self, call):
        return vm_at(*self.find(call))

    def delete_machine(self, call):
        self.find(call)[0].unlink(missing_ok=True)

    def list_machines(self, call):
        vms = [(path, vm["owner"]) for path in self.folder.glob("*.json") if (vm := read(path))]
        own = [(path, owner) for path, owner in vms if owner["cluster"] == call.spec["cluster"]]
        return [ListedVm(id_of(path, owner), owner["name"], owner["namespace"], owner["uid"]) for path, owner in own]

    def path_of(self, call):
        return self.folder / f"vm-{hashlib.sha256(json.dumps(owner_of(call)).encode()).hexdigest()[:32]}.json"

    def find(self, call):
        """The VM that the provider id names, else that of the machine. A machine from a backup has another UID than its VM."""
        named = (call.machine.provider_id or "").split("/")[-1]
        path = self.folder / f"{named}.json" if named else self.path_of(call)
        vm = read(path)
        if vm is None:
            raise MachineError("NotFound", f"machine {call.machine.name} has no VM")
        if {**vm["owner"], "uid": ""} != {**owner_of(call), "uid": ""}:
            raise MachineError("PermissionDenied", f"VM {path.stem} is not that of machine {call.machine.name}")
        return path, vm


def vm_at(path, vm):
    name = vm["owner"]["name"]  # A machine's name may have 253 characters, a node name that is a label 63.
    return Vm(id_of(path, vm["owner"]), name if len(name) < 64 else path.stem)


id_of = lambda path, owner: f"folder:///{owner['cluster']}/{path.stem}"


def owner_of(call):
    return {"cluster": call.spec["cluster"], "namespace": call.machine.namespace, "name": call.machine.name, "uid": call.machine.uid}


def read(path):
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return None


if __name__ == "__main__":
    serve(FolderDriver(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(tempfile.gettempdir(), "vms")), *sys.argv[2:])
