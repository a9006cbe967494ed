"""Whether the messages are those of the contract."""

import re, tempfile, unittest
from pathlib import Path

from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from millwright_driver import driver_pb2 as pb

PROTOS = Path(__file__).parents[3] / "packages/driver-rpc/proto"


class GeneratedTest(unittest.TestCase):
    def test_messages_are_up_to_date(self):
        with tempfile.NamedTemporaryFile() as file:
            protoc.main(["", f"-I{PROTOS}", f"--descriptor_set_out={file.name}", "millwright/driver/v1/driver.proto"])
            [expected] = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
        found = descriptor_pb2.FileDescriptorProto.FromString(pb.DESCRIPTOR.serialized_pb)
        # The compiler leaves names out of the module that follow from others.
        without = [re.sub(r"\n *json_name: .*", "", str(each)) for each in (found, expected)]
        self.assertEqual(*without, "run drivers/python/generate")


if __name__ == "__main__":
    unittest.main()
