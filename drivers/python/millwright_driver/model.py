"""What the methods of a driver get and return. No value prints a secret."""

from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

from . import driver_pb2 as pb


class MachineError(Exception):
    """A call that failed. The code decides when it is repeated: `NotFound`, `Unavailable`, `InvalidArgument`."""

    def __init__(self, code: str, message: str, retry_after_ms: Optional[int] = None):
        super().__init__(message)
        self.code, self.retry_after_ms = code, retry_after_ms
        self.number = CODES[code]


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.removeprefix("ERROR_CODE_").split("_"))


CODES: Mapping[str, int] = {_title(name): number for name, number in pb.ErrorCode.items() if number}
"""Numbers of the codes by the names that the documents use."""


@dataclass(frozen=True)
class Machine:
    name: str
    namespace: str
    uid: str
    provider_id: Optional[str] = None
    """Names the VM. None until it was stored, also if the VM exists."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    spec: Mapping[str, Any]
    """`providerSpec` of the class, which `validate` accepted."""
    secret: Mapping[str, bytes] = field(repr=False)
    """The class secret, as it is now."""
    seconds_left: Callable[[], float] = field(repr=False)
    """Time until the deadline: the time-out of a request to the cloud."""
    machine: Optional[Machine] = None
    """None for `list_machines`."""
    user_data: bytes = field(default=b"", repr=False)
    """What the VM runs at its first boot. Only for `create_machine`, as is the token."""
    idempotency_token: str = ""


@dataclass(frozen=True)
class Vm:
    provider_id: str
    node_name: str
    """The name under which the kubelet registers."""
    initialized: Optional[bool] = None
    """False: `initialize_machine` is called next."""


@dataclass(frozen=True)
class ListedVm:
    provider_id: str
    machine_name: str
    machine_namespace: Optional[str] = None
    machine_uid: Optional[str] = None


@dataclass(frozen=True)
class Pending:
    """A creation or deletion that the cloud has accepted. The call is repeated until it returns something else."""

    message: str
    check_after_ms: float = 5_000
