"""A driver behind the server, as Millwright sees it: through gRPC."""

import contextlib, io, json, os, stat, tempfile, unittest

import grpc

from millwright_driver import ListedVm, MachineError, Pending, Vm, driver_pb2 as pb, start

MACHINE = pb.Machine(name="m-1", namespace="machines", uid="u-1")


class Driver:
    name, version = "test", "1.2.3"

    def __init__(self):
        self.calls, self.result = [], Vm("test:///vm-1", "m-1")

    def answer(self, call):
        self.calls.append(call)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    create_machine = get_machine_status = delete_machine = list_machines = answer

    def validate(self, spec, for_existing_vm):
        if not for_existing_vm and spec.get("size") != "small":
            yield "size", "must be small"


class ServerTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.socket, self.driver = f"{folder}/driver.sock", Driver()
        server = start(self.driver, self.socket)
        self.addCleanup(lambda: server.stop(None).wait())
        self.channel = self.enterContext(grpc.insecure_channel(f"unix://{self.socket}"))

    def call(self, name, **fields):
        request, response = getattr(pb, f"{name}Request"), getattr(pb, f"{name}Response")
        method = self.channel.unary_unary(f"/millwright.driver.v1.Driver/{name}", request.SerializeToString, response.FromString)
        return method(request(**fields), timeout=60)

    def create(self, spec={"size": "small"}):
        machine_class = pb.MachineClass(name="small", provider_spec=json.dumps(spec))
        return self.call("CreateMachine", machine=MACHINE, machine_class=machine_class, secret={"token": b"hidden"}, user_data=b"boot")

    def delete(self):
        return self.call("DeleteMachine", machine=MACHINE, machine_class=pb.MachineClass(provider_spec="{}"))

    def fails(self, error):
        self.driver.result = error
        with contextlib.redirect_stderr(io.StringIO()) as log:
            return self.create().error, log

    def test_declares_the_methods_that_the_driver_has(self):
        found = self.call("Handshake")
        self.assertEqual((found.name, found.version), ("test", "1.2.3"))
        self.assertEqual(found.capabilities, pb.Capabilities(class_validation=True, list_machines=True))

    def test_passes_the_call_and_returns_its_vm(self):
        found = self.create()
        self.assertEqual((found.provider_id, found.node_name), ("test:///vm-1", "m-1"))
        [call] = self.driver.calls
        self.assertEqual((call.spec, call.secret["token"], call.user_data), ({"size": "small"}, b"hidden", b"boot"))
        self.assertEqual((call.machine.name, call.machine.provider_id), ("m-1", None))
        self.assertGreater(call.seconds_left(), 0)
        self.assertNotIn("hidden", repr(call))

    def test_rejects_a_class_before_the_call(self):
        error = self.create({"size": "large"}).error
        self.assertEqual((error.code, error.message), (pb.ERROR_CODE_INVALID_ARGUMENT, "providerSpec.size: must be small"))
        self.assertEqual(self.driver.calls, [])
        for text, problems in [("[]", [([], "must be an object")]), ("{", [([], "must be an object")]), ("{}", [(["size"], "must be small")])]:
            found = self.call("ValidateClass", provider_spec=text).problems
            self.assertEqual([(list(each.path), each.message) for each in found], problems)
        self.assertEqual(len(self.call("ValidateClass", provider_spec="{}", for_existing_vm=True).problems), 0)

    def test_returns_failures_with_their_code(self):
        error, _ = self.fails(MachineError("ResourceExhausted", "no capacity", retry_after_ms=5000))
        self.assertEqual((error.code, error.message, error.retry_after_ms), (pb.ERROR_CODE_RESOURCE_EXHAUSTED, "no capacity", 5000))
        with self.assertRaises(KeyError):
            MachineError("Nothing", "")

    def test_keeps_the_text_of_other_exceptions_in_its_log(self):
        for exception, code in [(ConnectionError("hidden"), pb.ERROR_CODE_UNAVAILABLE), (KeyError("hidden"), pb.ERROR_CODE_UNKNOWN)]:
            error, log = self.fails(exception)
            self.assertEqual(error.code, code)
            self.assertNotIn("hidden", error.message)
            self.assertIn("hidden", log.getvalue())

    def test_deletes_a_missing_vm(self):
        self.driver.result = MachineError("NotFound", "none")
        self.assertEqual(self.delete().vm, pb.DeleteMachineResponse.VM_MISSING)
        self.driver.result = None
        self.assertEqual(self.delete().vm, pb.DeleteMachineResponse.VM_ENDED)

    def test_returns_pending_calls(self):
        self.driver.result = Pending("VM is starting", 1000)
        for found in (self.create(), self.delete()):
            self.assertEqual(found.pending, pb.Pending(message="VM is starting", check_after_ms=1000))

    def test_lists_vms(self):
        self.driver.result = [ListedVm("test:///vm-1", "m-1")]
        found = self.call("ListMachines", machine_class=pb.MachineClass(provider_spec="{}"))
        self.assertEqual(list(found.machines), [pb.ListedMachine(provider_id="test:///vm-1", machine_name="m-1")])
        self.assertTrue(found.complete)

    def test_opens_its_socket_to_its_user_only(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.socket).st_mode) & 0o077, 0)


if __name__ == "__main__":
    unittest.main()
