import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where `test/clouds/install-qemu` puts a kernel of Debian. */
const cache = join(homedir(), ".cache/millwright/qemu");
const programs = ["/usr/bin/qemu-system-x86_64", "/usr/bin/qemu-img", "/usr/bin/cpio"];
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find((file) => existsSync(file)) ?? "";

/** Whether `test/clouds/install-qemu` was possible here. */
export const hasQemu = busybox !== "" && [...programs, join(cache, "vmlinuz")].every((file) => existsSync(file));

/** Drivers that the kernel has as modules, in the order of their dependencies. */
const modules = [
  "drivers/virtio/virtio_ring",
  "drivers/virtio/virtio",
  "drivers/virtio/virtio_pci_legacy_dev",
  "drivers/virtio/virtio_pci_modern_dev",
  "drivers/virtio/virtio_pci",
  "net/core/failover",
  "drivers/net/net_failover",
  "drivers/net/virtio_net",
  "drivers/block/virtio_blk",
  "fs/nls/nls_cp437",
  "fs/nls/nls_ascii",
  "fs/fat/fat",
  "fs/fat/vfat",
  "drivers/input/evdev",
  "drivers/acpi/button",
];

/** A kernel of Debian, and an initrd with busybox and `init`, which is created in a folder. Boots in seconds, also without KVM. */
export async function createKernel(folder: string): Promise<{ readonly path: string; readonly initrd: string }> {
  const root = join(folder, "root");
  await mkdir(join(root, "bin"), { recursive: true });
  await mkdir(join(root, "modules"));
  await copyFile(busybox, join(root, "bin/busybox"));
  await copyFile(fileURLToPath(new URL("init", import.meta.url)), join(root, "init"));
  await chmod(join(root, "init"), 0o755);
  for (const name of modules)
    await copyFile(join(cache, "modules/kernel", `${name}.ko`), join(root, "modules", `${basename(name)}.ko`));
  await writeFile(join(root, "modules/order"), modules.map((name) => `${basename(name)}\n`).join(""));
  const initrd = join(folder, "initrd");
  const files = ["bin", "bin/busybox", "init", "modules", "modules/order"];
  const listed = [...files, ...modules.map((name) => `modules/${basename(name)}.ko`)];
  const archive = run("cpio", ["--create", "--format=newc", "--quiet", "--file", initrd], { cwd: root });
  archive.child.stdin?.end(`${listed.join("\n")}\n`);
  await archive;
  await rm(root, { recursive: true });
  return { path: join(cache, "vmlinuz"), initrd };
}
