import { parseGoDuration } from "@millwright/base";
import { annotationKeys, type Machine } from "@millwright/core/machine-api";
import type { MachineSettings } from "./machine-settings.ts";

/** Since when a process observes a machine, and the machine its phase; wall clock, milliseconds, as if the clock had never jumped. */
export interface ObservedSince {
  readonly machine: number;
  readonly phase: number;
}

/** A machine with the settings that its spec may override. */
interface MachineTerms {
  readonly machine: Machine;
  readonly settings: MachineSettings;
  /** Absent outside of a process that observes machines: then the times in the object count. */
  readonly observed?: ObservedSince | undefined;
}

const durationOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : parseGoDuration(text);

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/** Milliseconds from creation to a joined node: annotation, then spec, then setting (MCM, `pkg/util/provider/machinecontroller/machine_util.go` getEffectiveCreationTimeout). */
export const creationTimeoutMs = ({ machine, settings }: MachineTerms): number =>
  durationOf(machine.metadata.annotations?.[annotationKeys.effectiveCreationTimeout]) ??
  durationOf(machine.spec.creationTimeout) ??
  settings.creationTimeoutMs;

/** Wall clock, milliseconds, after which a machine that has not joined becomes Failed: when this process has observed it for the creation timeout. */
export const creationDeadline = (snapshot: MachineTerms): number =>
  (snapshot.observed?.machine ?? timeOf(snapshot.machine.metadata.creationTimestamp)) + creationTimeoutMs(snapshot);

/** Wall clock, milliseconds: since when the machine is in its phase, as far as this process observed it; NaN when that is unknown. */
export const phaseSince = ({ machine, observed }: Pick<MachineTerms, "machine" | "observed">): number =>
  observed?.phase ?? Date.parse(machine.status?.currentStatus?.lastUpdateTime ?? "");

/** Milliseconds from a node that is missing or unhealthy to phase Failed. */
export const healthTimeoutMs = ({ machine, settings }: MachineTerms): number =>
  durationOf(machine.spec.healthTimeout) ?? settings.healthTimeoutMs;

/** Wall clock, milliseconds: when the deletion, and with it the drain, was requested. Survives a restart. */
export const deletionStart = ({ machine }: Pick<MachineTerms, "machine">): number =>
  timeOf(machine.metadata.deletionTimestamp);

/** Milliseconds from the start of a drain until it is forced, without pauses. */
export const drainTimeoutMs = ({ machine, settings }: Pick<MachineTerms, "machine" | "settings">): number =>
  durationOf(machine.spec.drainTimeout) ?? settings.drainTimeoutMs;

/** Milliseconds from a drained node to the report of the agent on it. */
export const inPlaceUpdateTimeoutMs = ({ machine, settings }: MachineTerms): number =>
  durationOf(machine.spec.inPlaceUpdateTimeout) ?? settings.inPlaceUpdateTimeoutMs;

/** Duration of a preservation, milliseconds. */
export const preserveTimeoutMs = ({ machine, settings }: MachineTerms): number =>
  durationOf(machine.spec.machinePreserveTimeout) ?? settings.preserveTimeoutMs;

/** Milliseconds since the object was created. */
export const ageMs = (machine: Machine, now: Date): number =>
  now.getTime() - timeOf(machine.metadata.creationTimestamp);
