"""Serves a driver over gRPC."""

import json, os, signal, sys, traceback
from concurrent.futures import ThreadPoolExecutor

import grpc

from . import driver_pb2 as pb
from .model import Call, Machine, MachineError, Pending

CONTRACT_VERSION = 1
MAX_REQUEST_BYTES = 16 << 20
OPTIONAL = {"validate": "class_validation", "list_machines": "list_machines", "initialize_machine": "initialize_machine", "get_volume_ids": "volume_ids"}


def serve(driver, address=None, credentials=None):
    """Serves a driver until SIGTERM. The address is the path of a unix socket, or with credentials (TLS) host:port."""
    server = start(driver, address or os.environ["MILLWRIGHT_DRIVER_SOCKET"], credentials)
    signal.signal(signal.SIGTERM, lambda *_: server.stop(grace=5))
    server.wait_for_termination()


def start(driver, address, credentials=None):
    """Starts a server and returns it."""
    server = grpc.server(ThreadPoolExecutor(max_workers=32), options=[("grpc.max_receive_message_length", MAX_REQUEST_BYTES)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("millwright.driver.v1.Driver", _handlers(driver))])
    if credentials is not None:
        server.add_secure_port(address, credentials)
    else:
        # Only this user may open the socket: requests contain credentials.
        mask = os.umask(0o077)
        try:
            server.add_insecure_port(f"unix://{os.path.abspath(address.removeprefix('unix://'))}")
        finally:
            os.umask(mask)
    server.start()
    return server


def _handlers(driver):
    methods = {"Handshake": _handshake, "ValidateClass": _validate_class, **{name: _guarded(name, act) for name, act in CALLS.items()}}
    return {
        name: grpc.unary_unary_rpc_method_handler(
            lambda request, context, act=act: act(driver, request, context),
            request_deserializer=getattr(pb, f"{name}Request").FromString,
            response_serializer=getattr(pb, f"{name}Response").SerializeToString,
        )
        for name, act in methods.items()
    }


def _handshake(driver, request, context):
    capabilities = pb.Capabilities(**{capability: hasattr(driver, method) for method, capability in OPTIONAL.items()})
    versions = {"min_contract_version": CONTRACT_VERSION, "max_contract_version": CONTRACT_VERSION}
    return pb.HandshakeResponse(name=driver.name, version=driver.version, capabilities=capabilities, **versions)


def _validate_class(driver, request, context):
    if not request.HasField("provider_spec"):
        return pb.ValidateClassResponse()
    problems = _problems(driver, _parse(request.provider_spec), request.for_existing_vm)
    return pb.ValidateClassResponse(problems=[pb.Problem(path=path, message=message) for path, message in problems])


def _parse(text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _problems(driver, spec, for_existing_vm):
    """Paths and messages of at most 20 problems."""
    if not isinstance(spec, dict):
        return [([], "must be an object")]
    found = driver.validate(spec, for_existing_vm) if hasattr(driver, "validate") else []
    paths = [([path] if isinstance(path, str) else [str(part) for part in path], message) for path, message in found]
    return [([part[:100] for part in path], message) for path, message in paths[:20]]


def _guarded(name, act):
    """A failure is part of the response. As a gRPC status it would leave the outcome of the call unknown."""
    response = getattr(pb, f"{name}Response")

    def call(driver, request, context):
        try:
            return act(driver, request, context)
        except MachineError as error:
            return response(error=pb.Error(code=error.number, message=str(error), retry_after_ms=error.retry_after_ms))
        except OSError as error:
            # Also what `requests` and `urllib` raise. Its text may contain a URL with credentials.
            traceback.print_exc(file=sys.stderr)
            return response(error=pb.Error(code=pb.ERROR_CODE_UNAVAILABLE, message=f"{name}: the cloud is unreachable: {type(error).__name__}"))
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            return response(error=pb.Error(code=pb.ERROR_CODE_UNKNOWN, message=f"{name}: the driver failed with {type(error).__name__}; its log has the traceback"))

    return call


def _call(driver, request, context, for_existing_vm=True, **more):
    spec = _parse(request.machine_class.provider_spec)
    for path, message in _problems(driver, spec, for_existing_vm):
        raise MachineError("InvalidArgument", f"{'.'.join(['providerSpec', *path])}: {message}")
    if hasattr(request, "machine"):
        m = request.machine
        provider_id = m.provider_id if m.HasField("provider_id") else None
        more["machine"] = Machine(m.name, m.namespace, m.uid, provider_id, dict(m.labels), dict(m.annotations))
    return Call(spec, dict(request.secret), lambda: context.time_remaining() or 0, **more)


def _pending(result):
    return pb.Pending(message=result.message, check_after_ms=result.check_after_ms)


def _create(driver, request, context):
    created = {"user_data": request.user_data, "idempotency_token": request.idempotency_token}
    result = driver.create_machine(_call(driver, request, context, for_existing_vm=False, **created))
    if isinstance(result, Pending):
        return pb.CreateMachineResponse(pending=_pending(result))
    return pb.CreateMachineResponse(provider_id=result.provider_id, node_name=result.node_name)


def _status(driver, request, context):
    vm = driver.get_machine_status(_call(driver, request, context))
    return pb.GetMachineStatusResponse(provider_id=vm.provider_id, node_name=vm.node_name, initialized=vm.initialized)


def _delete(driver, request, context):
    try:
        result = driver.delete_machine(_call(driver, request, context))
    except MachineError as error:
        if error.code != "NotFound":
            raise
        return pb.DeleteMachineResponse(vm=pb.DeleteMachineResponse.VM_MISSING)
    if isinstance(result, Pending):
        return pb.DeleteMachineResponse(pending=_pending(result))
    return pb.DeleteMachineResponse(vm=pb.DeleteMachineResponse.VM_ENDED)


def _list(driver, request, context):
    vms = driver.list_machines(_call(driver, request, context))
    return pb.ListMachinesResponse(machines=[pb.ListedMachine(**vars(vm)) for vm in vms], complete=True)


def _initialize(driver, request, context):
    vm = driver.initialize_machine(_call(driver, request, context))
    return pb.InitializeMachineResponse(provider_id=vm.provider_id, node_name=vm.node_name)


def _volume_ids(driver, request, context):
    ids = driver.get_volume_ids([json.loads(volume) for volume in request.volumes])
    return pb.GetVolumeIdsResponse(volume_ids=[each or "" for each in ids])


CALLS = {
    "CreateMachine": _create,
    "GetMachineStatus": _status,
    "DeleteMachine": _delete,
    "ListMachines": _list,
    "InitializeMachine": _initialize,
    "GetVolumeIds": _volume_ids,
}
