import type { DataDisk } from "../spec/storage.ts";
import { dataDiskSuffix } from "./names.ts";
import { ownerTagKeys, tagOf, type Tags } from "./owner-tags.ts";

/** The machine that a NIC was made for; undefined for any other. */
export const machineOfNic = (name: string, tags: Tags | undefined): string | undefined =>
  machineOfPart(name, tags, /^-nic$/i, () => withoutSuffix(name, "-nic"));

/** The machine that a disk was made for; undefined for any other. The data disks of its class determine where the name of the machine ends. */
export const machineOfDisk = (
  name: string,
  tags: Tags | undefined,
  dataDisks: readonly DataDisk[],
): string | undefined =>
  machineOfPart(name, tags, /^(-os-disk|(-.+)?-\d+-data-disk)$/i, () => {
    const suffixes = ["-os-disk", ...dataDisks.map(dataDiskSuffix)].toSorted((a, b) => b.length - a.length);
    for (const suffix of suffixes) {
      const machine = withoutSuffix(name, suffix);
      if (machine !== undefined) return machine;
    }
    return undefined;
  });

/**
 * A tag names the machine; for resources of MCM's driver the name does. A resource with the tag but without a name of the driver is a copy with all tags.
 */
function machineOfPart(
  name: string,
  tags: Tags | undefined,
  ending: RegExp,
  byName: () => string | undefined,
): string | undefined {
  const tagged = tagOf(tags, ownerTagKeys.machine);
  if (tagged === "") return byName();
  const isNamedForIt = name.toLowerCase().startsWith(tagged.toLowerCase()) && ending.test(name.slice(tagged.length));
  return isNamedForIt ? tagged : undefined;
}

const withoutSuffix = (name: string, suffix: string): string | undefined =>
  name.length > suffix.length && name.toLowerCase().endsWith(suffix.toLowerCase())
    ? name.slice(0, -suffix.length)
    : undefined;
