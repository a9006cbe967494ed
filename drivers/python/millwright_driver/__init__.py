"""Drivers of Millwright in Python: a class with plain methods, and `serve`."""

from .model import Call, ListedVm, Machine, MachineError, Pending, Vm
from .server import serve, start

__all__ = ["Call", "ListedVm", "Machine", "MachineError", "Pending", "Vm", "serve", "start"]
