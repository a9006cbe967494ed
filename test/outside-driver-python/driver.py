"""A driver in Python: VMs are files of a folder. Run it with the folder of its VMs and the path of a unix socket."""

import base64, hashlib, json, os, signal, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from millwright.driver.v1 import driver_pb2 as pb
from millwright.driver.v1.driver_pb2_grpc import DriverServicer, add_DriverServicer_to_server


class Failure(Exception):
    def __init__(self, code, message):
        self.error = pb.Error(code=code, message=message)


def problems_of(text, for_existing_vm):
    """What is wrong with a providerSpec. For a VM that exists only the cluster counts: its class may have changed."""
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError):
        spec = None
    if not isinstance(spec, dict):
        return [pb.Problem(message="must be an object")]
    checks = {"cluster": lambda value: isinstance(value, str) and 0 < len(value) < 64}
    if not for_existing_vm:
        checks["size"] = lambda value: value in ("small", "large") if isinstance(value, str) else False
    expected = {"cluster": "must be a text of 1 to 63 characters", "size": "must be small or large"}
    wrong = [pb.Problem(path=[key], message=expected[key]) for key, check in checks.items() if not check(spec.get(key))]
    unknown = [] if for_existing_vm else [key for key in spec if key not in checks]
    return wrong + [pb.Problem(path=[key[:100]], message="is not a field of this driver") for key in unknown[:20]]


class FolderDriver(DriverServicer):
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def Handshake(self, request, context):
        capabilities = pb.Capabilities(class_validation=True, list_machines=True)
        return pb.HandshakeResponse(name="folder", version="1", min_contract_version=1, max_contract_version=1, capabilities=capabilities)

    def ValidateClass(self, request, context):
        has_spec = request.HasField("provider_spec")
        return pb.ValidateClassResponse(problems=problems_of(request.provider_spec, request.for_existing_vm) if has_spec else [])

    def CreateMachine(self, request, context):
        try:
            machine, spec = request.machine, self.spec_of(request)
            owner = self.owner_of(machine, spec)
            vm = {"owner": owner, "size": spec["size"], "userData": base64.b64encode(request.user_data).decode()}
            path = self.path_of(machine, spec)
            # The whole VM appears at once or not at all, also if another process creates it now: a repeated call finds it.
            with tempfile.NamedTemporaryFile("w", dir=self.folder) as file:
                file.write(json.dumps(vm))
                file.flush()
                try:
                    os.link(file.name, path)
                except FileExistsError:
                    found = self.find(machine, spec)[1]
                    if found["size"] != vm["size"]:
                        raise Failure(pb.ERROR_CODE_ALREADY_EXISTS, f"VM {path.stem} has size {found['size']}")
            return pb.CreateMachineResponse(provider_id=self.id_of(path, spec), node_name=self.node_name(machine.name, path))
        except Failure as failure:
            return pb.CreateMachineResponse(error=failure.error)

    def GetMachineStatus(self, request, context):
        try:
            spec = self.spec_of(request, for_existing_vm=True)
            path, vm = self.find(request.machine, spec)
            return pb.GetMachineStatusResponse(provider_id=self.id_of(path, spec), node_name=self.node_name(vm["owner"]["name"], path))
        except Failure as failure:
            return pb.GetMachineStatusResponse(error=failure.error)

    def DeleteMachine(self, request, context):
        try:
            self.find(request.machine, self.spec_of(request, for_existing_vm=True))[0].unlink(missing_ok=True)
        except Failure as failure:
            if failure.error.code != pb.ERROR_CODE_NOT_FOUND:
                return pb.DeleteMachineResponse(error=failure.error)
            return pb.DeleteMachineResponse(vm=pb.DeleteMachineResponse.VM_MISSING)
        return pb.DeleteMachineResponse(vm=pb.DeleteMachineResponse.VM_ENDED)

    def ListMachines(self, request, context):
        try:
            spec = self.spec_of(request, for_existing_vm=True)
            found = [(path, self.read(path)) for path in self.folder.glob("*.json")]
            own = [(path, vm["owner"]) for path, vm in found if vm and vm["owner"]["cluster"] == spec["cluster"]]
            listed = [
                pb.ListedMachine(provider_id=self.id_of(path, spec), machine_name=o["name"], machine_namespace=o["namespace"], machine_uid=o["uid"])
                for path, o in own
            ]
            return pb.ListMachinesResponse(machines=listed, complete=True)
        except Failure as failure:
            return pb.ListMachinesResponse(error=failure.error)

    @staticmethod
    def spec_of(request, for_existing_vm=False):
        text = request.machine_class.provider_spec
        for problem in problems_of(text, for_existing_vm):
            raise Failure(pb.ERROR_CODE_INVALID_ARGUMENT, f"providerSpec.{'.'.join(problem.path)}: {problem.message}")
        return json.loads(text)

    @staticmethod
    def owner_of(machine, spec):
        return {"cluster": spec["cluster"], "namespace": machine.namespace, "name": machine.name, "uid": machine.uid}

    @staticmethod
    def id_of(path, spec):
        return f"folder:///{spec['cluster']}/{path.stem}"

    @staticmethod
    def node_name(name, path):
        """A name of a machine may have 253 characters, a node name that is a label has 63."""
        return name if len(name) < 64 else path.stem

    def path_of(self, machine, spec):
        """The name of the file follows from the machine, so that it is found without a provider id."""
        identity = json.dumps(self.owner_of(machine, spec), sort_keys=True)
        return self.folder / f"vm-{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"

    @staticmethod
    def read(path):
        try:
            return json.loads(path.read_text())
        except FileNotFoundError:
            return None

    def find(self, machine, spec):
        """The VM that the provider id names, else that of the machine's UID. A machine that was restored from a backup has another UID than its VM."""
        named = machine.HasField("provider_id")
        path = self.folder / f"{machine.provider_id.split('/')[-1]}.json" if named else self.path_of(machine, spec)
        vm = self.read(path)
        if vm is None:
            raise Failure(pb.ERROR_CODE_NOT_FOUND, f"machine {machine.name} has no VM")
        if any(vm["owner"].get(key) != value for key, value in self.owner_of(machine, spec).items() if key != "uid"):
            raise Failure(pb.ERROR_CODE_PERMISSION_DENIED, f"VM {path.stem} is not that of machine {machine.name}")
        return path, vm


if __name__ == "__main__":
    os.umask(0o077)
    server = grpc.server(ThreadPoolExecutor(max_workers=32), options=[("grpc.max_receive_message_length", 16 << 20)])
    add_DriverServicer_to_server(FolderDriver(sys.argv[1]), server)
    server.add_insecure_port(f"unix://{os.path.abspath(sys.argv[2])}")
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: server.stop(grace=5))
    server.wait_for_termination()
