import { describe, expect, it } from "vitest";
import { qemuSpecSchema, vmShapeOf } from "../spec/spec.ts";
import { diskArguments, qemuArguments } from "./arguments.ts";

const providerId = "qemu:///home/pool-1-0123456789ab-01234567";
const argumentsOf = (spec: object): readonly string[] =>
  qemuArguments({
    folder: "/vms/pool-1",
    providerId,
    spec: vmShapeOf(qemuSpecSchema.parse({ cpus: 2, memoryMiB: 512, ...spec })),
  });
/** The values of an option. */
const valuesOf = (args: readonly string[], option: string): readonly (string | undefined)[] =>
  args.flatMap((arg, index) => (arg === option ? [args[index + 1]] : []));

describe("the arguments of QEMU", () => {
  it("boot a disk, with KVM where possible, and attach the seed by its label", () => {
    const args = argumentsOf({ image: { path: "/images/a.qcow2" } });
    expect(valuesOf(args, "-accel")).toEqual(["kvm", "tcg"]);
    expect(valuesOf(args, "-smp")).toEqual(["2"]);
    expect(valuesOf(args, "-m")).toEqual(["512M"]);
    expect(valuesOf(args, "-kernel")).toEqual([]);
    expect(valuesOf(args, "-netdev")).toEqual(["user,id=net"]);
    const drives = valuesOf(args, "-blockdev").map((text): unknown => JSON.parse(text ?? ""));
    expect(drives).toMatchObject([
      { driver: "qcow2", file: { filename: "/vms/pool-1/disk.qcow2" } },
      { driver: "vvfat", dir: "/vms/pool-1/seed", label: "cidata", "read-only": true },
    ]);
  });

  it("boot a kernel without a disk", () => {
    const args = argumentsOf({ kernel: { path: "/k", initrd: "/i", append: "a=b,c d" }, accelerator: "tcg" });
    expect(valuesOf(args, "-kernel")).toEqual(["/k"]);
    expect(valuesOf(args, "-initrd")).toEqual(["/i"]);
    expect(valuesOf(args, "-append")).toEqual(["a=b,c d"]);
    expect(valuesOf(args, "-accel")).toEqual(["tcg"]);
    expect(valuesOf(args, "-blockdev")).toHaveLength(1);
  });

  it("forward ports, or attach a bridge", () => {
    const image = { path: "/images/a.qcow2" };
    const forwards = [{ hostPort: 2222, vmPort: 22 }];
    expect(valuesOf(argumentsOf({ image, network: { forwards } }), "-netdev")).toEqual([
      "user,id=net,hostfwd=tcp:127.0.0.1:2222-:22",
    ]);
    expect(valuesOf(argumentsOf({ image, network: { bridge: "br0" } }), "-netdev")).toEqual(["bridge,id=net,br=br0"]);
  });

  it("have only absolute paths, so that no process starts in a folder that was renamed", () => {
    const args = argumentsOf({ image: { path: "/images/a.qcow2" } }).join(" ");
    expect(args.match(/pool-1\/\w+/g)).toEqual([
      "pool-1/pid",
      "pool-1/qmp",
      "pool-1/console",
      "pool-1/disk",
      "pool-1/seed",
    ]);
    expect(args).not.toMatch(/[^/]vms\/|\.\//);
  });
});

describe("the disk of a VM", () => {
  it("overlays an image, with its size or a larger one", () => {
    const image = { path: "/images/a.raw", format: "raw" } as const;
    expect(diskArguments("/vms/a", { image })).toEqual([
      "create",
      "-q",
      "-f",
      "qcow2",
      "-F",
      "raw",
      "-b",
      "/images/a.raw",
      "/vms/a/disk.qcow2",
    ]);
    expect(diskArguments("/vms/a", { diskGiB: 20 })).toEqual([
      "create",
      "-q",
      "-f",
      "qcow2",
      "/vms/a/disk.qcow2",
      "20G",
    ]);
  });
});
