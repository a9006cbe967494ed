import { parseGoDuration } from "@millwright/core";
import { issueCollector } from "@millwright/core/driver-kit";
import * as z from "zod";

/** The longest state directory: the path of a socket in a folder below it may have 107 bytes, in QEMU and in Linux. */
const longestStateDirectory = 50;
/** A deletion waits within one call, whose deadline is five minutes. */
const longestGracePeriodMs = 240_000;

/** Characters without a meaning in options of QEMU. */
const stateDirectory = z
  .string()
  .max(
    longestStateDirectory,
    `must have at most ${longestStateDirectory} characters, because paths of sockets are short`,
  )
  .regex(/^(?:\/[A-Za-z0-9_@+-][A-Za-z0-9._@+-]*)+$/, "must be an absolute path of letters, digits, and _ @ + - .")
  .default("/var/lib/millwright/qemu")
  .describe("Folder of all VMs on this computer. Only the user of Millwright can read it.");

const cluster = z
  .string()
  .regex(
    /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
    "must be 1 to 63 letters, digits, dots, dashes and underscores",
  )
  .default("default")
  .describe("Cluster of the VMs: the driver lists and deletes only those of its own. Part of the provider id.");

const gracePeriod = z
  .string()
  .default("10s")
  .transform((value, check) => {
    const ms = parseGoDuration(value);
    if (ms !== undefined && ms >= 0 && ms <= longestGracePeriodMs) return ms;
    check.addIssue({ code: "custom", message: 'must be a duration from "0s" to "4m", such as "10s"' });
    return z.NEVER;
  });

/** A path of the computer that runs Millwright. */
const path = z
  .string()
  .max(1024)
  // oxlint-disable-next-line no-control-regex
  .regex(/^\/[^\u0000-\u001f]+$/, "must be an absolute path");

const port = z.int().min(1).max(65_535);

const forwardSchema = z.strictObject({
  hostPort: port.describe("Port of the computer. Only one VM can have it."),
  vmPort: port.describe("Port of the VM."),
  hostAddress: z.ipv4().default("127.0.0.1").describe("Address of the computer that listens; `0.0.0.0` for all."),
  protocol: z.enum(["tcp", "udp"]).default("tcp"),
});

const networkSchema = z
  .strictObject({
    bridge: z
      .string()
      .regex(/^[A-Za-z0-9_.-]{1,15}$/, "must be the name of a network interface")
      .optional()
      .describe(
        "Bridge of the computer that VMs are attached to by `qemu-bridge-helper`. Without it a VM has a private network behind NAT.",
      ),
    forwards: z.array(forwardSchema).max(16).default([]).describe("Ports that are forwarded to the VM."),
  })
  .superRefine(({ bridge, forwards }, check) => {
    if (bridge !== undefined && forwards.length > 0)
      issueCollector(check)(["forwards"], "must be empty with a bridge: the VM has an address of its own");
  });

const shape = z.strictObject({
  cpus: z.int().min(1).max(255).describe("Number of CPUs."),
  memoryMiB: z.int().min(64).max(4_194_304).describe("Memory, MiB."),
  image: z
    .strictObject({
      path: path.describe("File of the image. It is never written, and must not change while a VM uses it."),
      format: z.enum(["qcow2", "raw"]).default("qcow2"),
    })
    .optional()
    .describe("Image of the disk. Each VM writes to an overlay of its own."),
  diskGiB: z
    .int()
    .min(1)
    .max(65_536)
    .optional()
    .describe("Size of the disk, GiB. Default: that of the image, or no disk without an image."),
  kernel: z
    .strictObject({
      path: path.describe("Linux kernel, which is booted without a boot loader."),
      initrd: path.optional(),
      append: z.string().max(2_000).default("").describe("Command line of the kernel."),
    })
    .optional()
    .describe("Kernel to boot instead of the boot loader of the image."),
  accelerator: z
    .enum(["auto", "kvm", "tcg"])
    .default("auto")
    .describe("`kvm` is fast and needs `/dev/kvm`; `tcg` is emulation in software. `auto` uses KVM where possible."),
  network: networkSchema.default({ forwards: [] }),
  cluster,
  stateDirectory,
  shutdownGracePeriod: gracePeriod.describe(
    "How long a VM may take to shut down when it is deleted, such as `30s`; at most `4m`. Afterwards it is killed.",
  ),
});

/** Schema of `providerSpec` of classes with `provider: qemu`. */
export const qemuSpecSchema = shape
  .superRefine(({ image, kernel }, check) => {
    if (image === undefined && kernel === undefined)
      issueCollector(check)(["image"], "is required without a kernel: there is nothing to boot");
  })
  .transform(({ shutdownGracePeriod, ...spec }) => ({ ...spec, shutdownGracePeriodMs: shutdownGracePeriod }));

/** `providerSpec` of the driver, with its defaults. */
export type QemuSpec = Readonly<z.output<typeof qemuSpecSchema>>;

/** What makes a VM another one; it is part of its record. The rest of a spec is how the driver treats a VM. */
export const vmShapeSchema = shape.pick({
  cpus: true,
  memoryMiB: true,
  image: true,
  diskGiB: true,
  kernel: true,
  accelerator: true,
  network: true,
});

/** See {@link vmShapeSchema}. */
export type VmShape = Readonly<z.output<typeof vmShapeSchema>>;

/** The part of a spec that a VM is created from. */
export const vmShapeOf = ({ cpus, memoryMiB, image, diskGiB, kernel, accelerator, network }: QemuSpec): VmShape => ({
  cpus,
  memoryMiB,
  accelerator,
  network,
  ...(image === undefined ? {} : { image }),
  ...(diskGiB === undefined ? {} : { diskGiB }),
  ...(kernel === undefined ? {} : { kernel }),
});

/** Reads what finds a VM, its folder and cluster, from a class that {@link qemuSpecSchema} rejects. */
export const qemuVmSpecSchema = z
  .object({ stateDirectory, cluster, shutdownGracePeriod: gracePeriod.catch(0) })
  .transform(({ shutdownGracePeriod, ...spec }): QemuSpec => ({
    ...spec,
    cpus: 1,
    memoryMiB: 64,
    accelerator: "auto",
    network: { forwards: [] },
    shutdownGracePeriodMs: shutdownGracePeriod,
  }));
