import { join } from "node:path";
import type { VmShape } from "../spec/spec.ts";
import { instanceIdOf, macAddressOf, systemUuidOf } from "../vm/identity.ts";

/** Files in the folder of a VM, besides its record. */
export const vmFiles = {
  disk: "disk.qcow2",
  /** Folder with the files of cloud-init's data source NoCloud. */
  seed: "seed",
  /** What the VM writes to its serial port. */
  console: "console.log",
  /** What QEMU prints. */
  log: "qemu.log",
  /** QEMU locks this file while it runs, so that a second process of the VM cannot start. */
  pid: "pid",
  /** Socket of QEMU's machine protocol; short, because paths of sockets are limited. */
  socket: "qmp",
} as const;

/** The program that runs a VM. */
export const systemProgram = "qemu-system-x86_64";
/** The program that creates disks. */
export const imageProgram = "qemu-img";

/** What a process is started for. */
export interface LaunchedVm {
  readonly folder: string;
  readonly providerId: string;
  readonly spec: VmShape;
}

const accelerators: Readonly<Record<VmShape["accelerator"], readonly string[]>> = {
  kvm: ["kvm"],
  tcg: ["tcg"],
  // QEMU uses the first that works.
  auto: ["kvm", "tcg"],
};

/** Options of the form `-device`: values have no comma, because their schema excludes it. */
function networkOf({ network, providerId }: { readonly network: VmShape["network"]; readonly providerId: string }) {
  const forwards = network.forwards.map(
    ({ protocol, hostAddress, hostPort, vmPort }) => `,hostfwd=${protocol}:${hostAddress}:${hostPort}-:${vmPort}`,
  );
  const backend =
    network.bridge === undefined ? `user,id=net${forwards.join("")}` : `bridge,id=net,br=${network.bridge}`;
  return ["-netdev", backend, "-device", `virtio-net-pci,netdev=net,mac=${macAddressOf(providerId)},romfile=`];
}

const drive = (node: object, device: string): readonly string[] => [
  "-blockdev",
  JSON.stringify(node),
  "-device",
  device,
];

const diskOf = (filename: string): readonly string[] =>
  drive(
    {
      driver: "qcow2",
      "node-name": "disk",
      discard: "unmap",
      file: { driver: "file", filename, discard: "unmap" },
    },
    "virtio-blk-pci,drive=disk,bootindex=1",
  );

/** A FAT file system that QEMU makes of a folder. cloud-init finds it by the label. */
const seedOf = (dir: string): readonly string[] =>
  drive({ driver: "vvfat", "node-name": "seed", dir, label: "cidata", "read-only": true }, "virtio-blk-pci,drive=seed");

/** Whether a VM has a disk. */
export const hasDisk = ({ image, diskGiB }: Pick<VmShape, "image" | "diskGiB">): boolean =>
  image !== undefined || diskGiB !== undefined;

/** Arguments of the QEMU process of a VM. All paths are absolute: once the folder has another name, a process cannot start any more. */
export function qemuArguments({ folder, providerId, spec }: LaunchedVm): readonly string[] {
  const file = (name: string): string => join(folder, name);
  const { kernel } = spec;
  return [
    ["-name", instanceIdOf(providerId), "-uuid", systemUuidOf(providerId)],
    ["-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35"],
    accelerators[spec.accelerator].flatMap((name) => ["-accel", name]),
    ["-cpu", "max", "-smp", String(spec.cpus), "-m", `${spec.memoryMiB}M`],
    ["-pidfile", file(vmFiles.pid), "-qmp", `unix:${file(vmFiles.socket)},server=on,wait=off`],
    ["-chardev", `file,id=console,path=${file(vmFiles.console)},append=on`, "-serial", "chardev:console"],
    ["-device", "virtio-rng-pci"],
    kernel === undefined ? [] : ["-kernel", kernel.path, "-append", kernel.append],
    kernel?.initrd === undefined ? [] : ["-initrd", kernel.initrd],
    hasDisk(spec) ? diskOf(file(vmFiles.disk)) : [],
    seedOf(file(vmFiles.seed)),
    networkOf({ network: spec.network, providerId }),
  ].flat();
}

/** Arguments that create the disk of a VM in a folder. */
export function diskArguments(
  folder: string,
  { image, diskGiB }: Pick<VmShape, "image" | "diskGiB">,
): readonly string[] {
  const backing = image === undefined ? [] : ["-F", image.format, "-b", image.path];
  const size = diskGiB === undefined ? [] : [`${diskGiB}G`];
  return ["create", "-q", "-f", "qcow2", ...backing, join(folder, vmFiles.disk), ...size];
}
