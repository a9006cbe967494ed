import { describe, expect, it } from "vitest";
import { qemuSpecSchema, vmShapeOf } from "../spec/spec.ts";
import { launchError } from "./launch-error.ts";

const spec = vmShapeOf(
  qemuSpecSchema.parse({
    cpus: 1,
    memoryMiB: 512,
    kernel: { path: "/k" },
    network: { forwards: [{ hostPort: 2222, vmPort: 22 }] },
  }),
);

describe("a QEMU process that ends at once", () => {
  it.each([
    [
      "qemu-system-x86_64: -netdev user,id=net,hostfwd=tcp:127.0.0.1:2222-:22: Could not set up host forwarding rule 'tcp:127.0.0.1:2222-:22'",
      "ResourceExhausted",
      /^network\.forwards: a port is in use.*2222/,
    ],
    [
      "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory",
      "ResourceExhausted",
      /^memoryMiB: .* 512 MiB/,
    ],
    [
      "Could not access KVM kernel module: Permission denied\nqemu-system-x86_64: -accel kvm: failed to initialize kvm: Permission denied",
      "FailedPrecondition",
      /^accelerator: .*group "kvm"/,
    ],
    [
      "qemu-system-x86_64: -netdev bridge,id=net,br=br0: bridge helper failed",
      "FailedPrecondition",
      /^network\.bridge: .*bridge\.conf/,
    ],
    ["qemu: could not open kernel file '/k': Permission denied", "InvalidArgument", /^kernel: .*\/k/],
    ["qemu-system-x86_64: something new", "FailedPrecondition", /status 1.*something new/],
    ["", "FailedPrecondition", /status 1.*printed nothing/],
  ])("is explained: %s", (log, code, message) => {
    const error = launchError(`${log}\n`, "status 1", spec);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });
});
