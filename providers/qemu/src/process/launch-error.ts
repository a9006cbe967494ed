import { MachineError } from "@millwright/core";
import type { VmShape } from "../spec/spec.ts";
import { lastLine } from "./programs.ts";

/** What QEMU prints, and what it means. The first that matches is used. */
const reasons: readonly (readonly [RegExp, (spec: VmShape, line: string) => MachineError])[] = [
  [
    /Could not set up host forwarding rule/i,
    ({ network }, line) =>
      new MachineError(
        "ResourceExhausted",
        `network.forwards: a port is in use; another VM of the class, or another program, has one of ${network.forwards.map(({ hostPort }) => hostPort).join(", ")} (${line})`,
      ),
  ],
  [
    /Cannot allocate memory|cannot set up guest memory/i,
    ({ memoryMiB }) =>
      new MachineError("ResourceExhausted", `memoryMiB: the computer does not have ${memoryMiB} MiB of free memory`),
  ],
  [
    /\bkvm\b/i,
    (_, line) =>
      new MachineError(
        "FailedPrecondition",
        `accelerator: KVM is not usable; enable virtualization and add the user of Millwright to the group "kvm", or set accelerator to "auto" or "tcg" (${line})`,
      ),
  ],
  [
    /bridge helper|bridge/i,
    ({ network }, line) =>
      new MachineError(
        "FailedPrecondition",
        `network.bridge: "${network.bridge ?? ""}" cannot be used; create the bridge, and allow it in /etc/qemu/bridge.conf (${line})`,
      ),
  ],
  [
    /could not (?:load|open) kernel|could not load initrd|initrd|kernel image/i,
    (_, line) => new MachineError("InvalidArgument", `kernel: QEMU cannot load it: ${line}`),
  ],
];

/** The error of a QEMU process that ended before its VM ran. */
export function launchError(log: string, status: string, spec: VmShape): MachineError {
  const line = lastLine(log);
  const known = reasons.find(([pattern]) => pattern.test(line));
  if (known !== undefined) return known[1](spec, line);
  return new MachineError("FailedPrecondition", `QEMU ended (${status}): ${line === "" ? "it printed nothing" : line}`);
}
