import { isRecord } from "@millwright/base";
import { annotationKeys, type MachineClass } from "@millwright/core/machine-api";
import { apiTime } from "@millwright/kube";

/** A VM without machine that will be deleted. */
export interface QuarantinedVm {
  /** Name of the Machine that it was created for. */
  readonly machine: string;
  /** UID of that Machine, where the driver stores it. */
  readonly uid?: string;
  /** What is left of it, where it is no VM. */
  readonly parts?: readonly string[];
  /** Since when; wall clock, milliseconds. */
  readonly since: number;
  /** From when on it will be deleted, for people; absent: it is only reported. Wall clock, milliseconds. */
  readonly deleteAfter?: number;
  /** Since when its Nodes are drained: then it is deleted once they are. Wall clock, milliseconds. */
  readonly draining?: number;
  /** Names of these Nodes when their drain began. */
  readonly nodes?: readonly string[];
  /** When it was deleted; its Nodes are deleted next. Wall clock, milliseconds. */
  readonly deleted?: number;
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

const timeOf = (value: unknown): number | undefined => {
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
};

const textsOf = (value: unknown): readonly string[] | undefined => {
  const texts = Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  return texts.length === 0 ? undefined : texts;
};

/** A record as it was stored, without fields that cannot be read; `undefined`: the VM starts again. */
function vmOf(record: Readonly<Record<string, unknown>>): QuarantinedVm | undefined {
  const { machine, uid, parts } = record;
  const since = timeOf(record["since"]);
  if (typeof machine !== "string" || since === undefined) return undefined;
  const [texts, nodes] = [parts, record["nodes"]].map(textsOf);
  const times = (["deleteAfter", "draining", "deleted"] as const).flatMap((key) => {
    const at = timeOf(record[key]);
    return at === undefined ? [] : [[key, at] as const];
  });
  return {
    machine,
    ...(typeof uid === "string" ? { uid } : {}),
    ...(texts === undefined ? {} : { parts: texts }),
    since,
    ...Object.fromEntries(times),
    ...(nodes === undefined ? {} : { nodes }),
  };
}

/** The quarantine that is recorded on a class, without entries that cannot be read: those VMs start again. */
export function readQuarantine({ metadata }: Pick<MachineClass, "metadata">): Quarantine {
  const record = parsed(metadata.annotations?.[annotationKeys.orphanVms] ?? "");
  if (!isRecord(record) || !isRecord(record["vms"])) return emptyQuarantine;
  const { machines } = record;
  const vms = Object.entries(record["vms"]).flatMap(([id, entry]) => {
    const vm = isRecord(entry) ? vmOf(entry) : undefined;
    return vm === undefined ? [] : [[id, vm] as const];
  });
  return { machines: typeof machines === "number" ? machines : 0, vms: new Map(vms) };
}

/**
 * The text of the annotation; `null` removes it.
 *
 * @param quarantineMs from quarantine to deletion; undefined: nothing is deleted
 */
export function formatQuarantine({ machines, vms }: Quarantine, quarantineMs: number | undefined): string | null {
  if (vms.size === 0) return null;
  const timeText = (ms: number): string => apiTime(new Date(ms));
  const entries = [...vms]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { machine, uid, parts, since, draining, nodes, deleted }]) => {
      const entry = {
        machine,
        uid,
        parts,
        since: timeText(since),
        deleteAfter: quarantineMs === undefined ? undefined : timeText(since + quarantineMs),
        draining: draining === undefined ? undefined : timeText(draining),
        nodes,
        deleted: deleted === undefined ? undefined : timeText(deleted),
      };
      return [id, entry] as const;
    });
  return JSON.stringify({ machines, vms: Object.fromEntries(entries) });
}
