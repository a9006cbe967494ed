import type { AddIssue } from "@millwright/core/driver-kit";

/** What a type of EBS volumes allows. */
interface Performance {
  readonly minIops: number;
  /** IOPS of a volume of any size. */
  readonly baseIops: number;
  readonly iopsPerGiB: number;
}

/**
 * Types with a choice of IOPS. The highest values are left to EC2, which has raised them several times. Source: Amazon EBS User Guide, "Amazon EBS volume types"; for the lowest values Amazon EC2 API
 * Reference, `EbsBlockDevice`.
 */
const performances: Readonly<Record<string, Performance>> = {
  gp3: { minIops: 3_000, baseIops: 3_000, iopsPerGiB: 500 },
  io1: { minIops: 100, baseIops: 0, iopsPerGiB: 50 },
  io2: { minIops: 100, baseIops: 0, iopsPerGiB: 1_000 },
};

/** Throughput of gp3 volumes, MiB/s: at least this much, and at most a quarter of the IOPS (Amazon EBS User Guide, "General Purpose SSD volumes"). */
const minThroughput = 125;
const iopsPerThroughput = 4;

/** A volume with its numbers; 0 IOPS are the default of the type. */
interface Volume {
  readonly volumeSize: number;
  readonly volumeType: string;
  readonly iops: number;
  readonly throughput?: number | undefined;
}

/** Rules over the IOPS and the throughput of a volume. */
export function checkPerformance(volume: Volume, at: readonly (string | number)[], addIssue: AddIssue): void {
  const { volumeSize, volumeType, iops, throughput } = volume;
  const allowed = performances[volumeType];
  if (iops > 0) {
    const most = Math.max(allowed?.baseIops ?? 0, (allowed?.iopsPerGiB ?? 0) * volumeSize);
    if (allowed === undefined) addIssue([...at, "iops"], `must be left out for volumes of type ${volumeType}`);
    else if (iops < allowed.minIops) {
      addIssue([...at, "iops"], `must be at least ${allowed.minIops} for volumes of type ${volumeType}`);
    } else if (iops > most) {
      const ratio = `${volumeType} allows ${allowed.iopsPerGiB} for each GiB`;
      addIssue([...at, "iops"], `must be at most ${most} for ${volumeSize} GiB: ${ratio}`);
    }
  }
  if (throughput === undefined) return;
  const most = Math.max(iops, performances["gp3"]?.baseIops ?? 0) / iopsPerThroughput;
  if (volumeType !== "gp3") addIssue([...at, "throughput"], "may only be given for volumes of type gp3");
  else if (throughput < minThroughput) addIssue([...at, "throughput"], `must be at least ${minThroughput}`);
  else if (throughput > most) {
    addIssue([...at, "throughput"], `must be at most a quarter of the iops: ${Math.floor(most)}`);
  }
}
