import { isMachineError, MachineError } from "@millwright/core";
import { abortedCall } from "@millwright/core/driver-kit";
import { systemCodeOf } from "./vm/system-code.ts";

/** Errors of the system that a user can do something about. */
const remedies: Readonly<Record<string, readonly ["FailedPrecondition" | "ResourceExhausted", string]>> = {
  EACCES: ["FailedPrecondition", "let the user of Millwright own stateDirectory and its VMs"],
  EPERM: ["FailedPrecondition", "run Millwright as the user that started its VMs"],
  EROFS: ["FailedPrecondition", "stateDirectory must be writable"],
  ENOSPC: ["ResourceExhausted", "the file system of stateDirectory is full"],
  EDQUOT: ["ResourceExhausted", "the quota of stateDirectory is used up"],
  EMFILE: ["ResourceExhausted", "the process has too many open files"],
};

/** Turns whatever a call threw into the error that the controller acts on. */
export function toMachineError(error: unknown, signal: AbortSignal): MachineError {
  if (signal.aborted) return abortedCall(signal, "QEMU");
  if (isMachineError(error)) return error;
  const code = systemCodeOf(error);
  const known = remedies[code];
  if (known !== undefined)
    return new MachineError(known[0], `the computer refused a call (${code}): ${known[1]}`, { cause: error });
  // Messages of the system contain paths with random names, which would change with each attempt.
  const text = code === "" && error instanceof Error ? error.message : code;
  return new MachineError("Internal", `the driver of QEMU failed: ${text}`.slice(0, 2_000), { cause: error });
}
