import { specProblems } from "@millwright/core/testing";
import { describe, expect, it } from "vitest";
import { createQemuDriver } from "../driver.ts";
import { qemuSpecSchema, qemuVmSpecSchema } from "./spec.ts";

const least = { cpus: 2, memoryMiB: 512, image: { path: "/images/a.qcow2" } };
const problemsOf = (change: object): Promise<readonly string[]> =>
  specProblems(createQemuDriver(), { ...least, ...change });

describe("the class of QEMU", () => {
  it("needs CPUs, memory and an image, and has defaults for the rest", () => {
    expect(qemuSpecSchema.parse(least)).toEqual({
      cpus: 2,
      memoryMiB: 512,
      image: { path: "/images/a.qcow2", format: "qcow2" },
      accelerator: "auto",
      network: { forwards: [] },
      cluster: "default",
      stateDirectory: "/var/lib/millwright/qemu",
      shutdownGracePeriodMs: 10_000,
    });
  });

  it.each([
    [{ image: undefined }, /image.*nothing to boot/],
    [{ arguments: ["-incoming"] }, /arguments/],
    [{ image: { path: "images/a.qcow2" } }, /image\.path.*absolute path/],
    [{ image: { path: "/a\nb" } }, /image\.path.*absolute path/],
    [{ stateDirectory: "/a/../b" }, /stateDirectory.*absolute path/],
    [{ stateDirectory: "/a,server=on" }, /stateDirectory.*absolute path/],
    [{ stateDirectory: `/${"d".repeat(60)}` }, /stateDirectory.*at most 50 characters/],
    [{ cluster: "../x" }, /cluster.*letters/],
    [{ network: { bridge: "br0,script=/x" } }, /network\.bridge.*network interface/],
    [{ network: { forwards: [{ hostPort: 1, vmPort: 1, hostAddress: "::,x" }] } }, /forwards\[0\]\.hostAddress/],
    [{ network: { bridge: "br0", forwards: [{ hostPort: 1, vmPort: 1 }] } }, /network\.forwards.*bridge/],
    [{ shutdownGracePeriod: "10m" }, /shutdownGracePeriod.*4m/],
    [{ shutdownGracePeriod: "soon" }, /shutdownGracePeriod.*10s/],
  ])("is rejected with its field: %j", async (change, expected) => {
    expect((await problemsOf(change)).join("\n")).toMatch(expected);
  });

  it("finds VMs with a class that it rejects otherwise", () => {
    const spec = qemuVmSpecSchema.parse({ cpus: 0, stateDirectory: "/vms", cluster: "a", shutdownGracePeriod: "soon" });
    expect(spec).toMatchObject({ stateDirectory: "/vms", cluster: "a", shutdownGracePeriodMs: 0 });
  });
});
