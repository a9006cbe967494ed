import { annotationKeys, isRecord, type MachineClass } from "@millwright/core";
import { apiTime } from "@millwright/kube";

/** A VM without machine that will be deleted. */
export interface QuarantinedVm {
  /** Name of the Machine that it was created for. */
  readonly machine: string;
  /** Since when; wall clock, milliseconds. */
  readonly since: number;
}

/** The VMs of a class that are in quarantine. */
export interface Quarantine {
  /** How many machines the namespace had when the record was begun. */
  readonly machines: number;
  /** By provider id. */
  readonly vms: ReadonlyMap<string, QuarantinedVm>;
}

/** An annotation is bounded, and so many VMs without machine are examined by people. */
export const maxQuarantined = 50;

export const emptyQuarantine: Quarantine = { machines: 0, vms: new Map() };

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The quarantine that is recorded on a class, without entries that cannot be read: those VMs start again. */
export function readQuarantine({ metadata }: Pick<MachineClass, "metadata">): Quarantine {
  const record = parsed(metadata.annotations?.[annotationKeys.orphanVms] ?? "");
  if (!isRecord(record) || !isRecord(record["vms"])) return emptyQuarantine;
  const { machines } = record;
  const vms = Object.entries(record["vms"]).flatMap(([id, entry]) => {
    const { machine, since }: Readonly<Record<string, unknown>> = isRecord(entry) ? entry : {};
    const sinceMs = typeof since === "string" ? Date.parse(since) : Number.NaN;
    if (typeof machine !== "string" || Number.isNaN(sinceMs)) return [];
    return [[id, { machine, since: sinceMs }] as const];
  });
  return { machines: typeof machines === "number" ? machines : 0, vms: new Map(vms) };
}

/** The text of the annotation; `null` removes it. */
export function formatQuarantine({ machines, vms }: Quarantine): string | null {
  if (vms.size === 0) return null;
  const entries = [...vms]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { machine, since }]) => [id, { machine, since: apiTime(new Date(since)) }] as const);
  return JSON.stringify({ machines, vms: Object.fromEntries(entries) });
}
