import type { Compare } from "@millwright/core/driver-kit";
import type { DiskResource, InstanceResource } from "../api/requests.ts";
import { isScratch } from "../spec/disks.ts";
import type { GcpSpec } from "../spec/spec.ts";
import { nameIn } from "../vm/vm.ts";

/**
 * Compares the disks of a VM with those of its class, in their order. Only disks of the driver can be distinguished from those that were attached later: a VM of MCM's driver has none of them,
 * and is not compared. What local SSDs are Compute Engine does not show.
 *
 * @param made the disks of the zone that the driver has made
 */
export function compareDisks(
  spec: GcpSpec,
  instance: InstanceResource,
  made: readonly DiskResource[],
  compare: Compare,
): void {
  const byName = new Map(made.map((disk) => [disk.name ?? "", disk]));
  const found = (instance.disks ?? []).flatMap(({ source, autoDelete }) => {
    const disk = byName.get(nameIn(source));
    return disk === undefined ? [] : [{ disk, autoDelete: autoDelete ?? false }];
  });
  if (found.length === 0) return;
  const wanted = spec.disks
    .map((disk, index) => ({ disk, at: `disks[${index}]` }))
    .filter(({ disk }) => !isScratch(disk));
  for (const { disk } of found.slice(wanted.length)) compare("disks", "", nameIn(disk.type));
  for (const [order, { disk, at }] of wanted.entries()) {
    const there = found[order];
    if (there === undefined) {
      compare(at, disk.type, "");
      continue;
    }
    compare(`${at}.autoDelete`, disk.autoDelete, there.autoDelete);
    compare(`${at}.type`, disk.type, nameIn(there.disk.type));
    if (disk.sizeGb !== 0) compare(`${at}.sizeGb`, disk.sizeGb, Number(there.disk.sizeGb));
    compareImage(`${at}.image`, disk.image, there.disk.sourceImage ?? "", compare);
  }
}

/** The part of an address that identifies the image. */
const pathOf = (image: string): string => image.replace(/^https:\/\/[^/]+\/compute\/[^/]+\//, "");

/** The image of a family at the creation of the disk is unknown. */
function compareImage(field: string, wanted: string, found: string, compare: Compare): void {
  const [is, was] = [pathOf(wanted), pathOf(found)];
  if (is === "" || is.includes("/family/") || was.endsWith(`/${is}`)) return;
  compare(field, is, was);
}
