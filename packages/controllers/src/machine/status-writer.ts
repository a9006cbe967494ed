import type { Clock } from "@millwright/base";
import type { Machine, MachineStatus } from "@millwright/core/machine-api";
import { equalJson, type ReadonlyStore, createOverwriteLimit, type Writer } from "@millwright/kube";

/** Writes statuses of Machines, and limits how often those of another process are replaced. */
export interface MachineStatusWriter extends Pick<Writer<Machine>, "writeStatus"> {
  /** How long the decided status has to wait, because another process has replaced others again and again, milliseconds. 0: it may be written. */
  waitMs(machine: Machine, decide: () => MachineStatus | undefined): number;
  /** The machine with this UID was deleted. */
  forget(uid: string): void;
}

export function createMachineStatusWriter(
  clock: Pick<Clock, "monotonicMs">,
  machines: Pick<Writer<Machine>, "writeStatus">,
  store: Pick<ReadonlyStore<Machine>, "getByRef">,
): MachineStatusWriter {
  const overwrites = createOverwriteLimit<MachineStatus>(clock);
  const uidOf = ({ metadata }: Machine): string => metadata.uid ?? "";
  return {
    waitMs(machine, decide) {
      if (machine.status === undefined) return 0;
      const restMs = overwrites.dueMs(uidOf(machine), machine.status) - clock.monotonicMs();
      if (restMs <= 0) return 0;
      const status = decide();
      return status === undefined || equalJson(machine.status, status) ? 0 : restMs;
    },
    async writeStatus(machine, status) {
      await machines.writeStatus(machine, status);
      // The response: an older CRD drops fields that it does not know, which is not the write of another process.
      const written = store.getByRef(machine.metadata);
      if (written?.status === undefined || uidOf(written) !== uidOf(machine) || equalJson(machine.status, status))
        return;
      overwrites.record(uidOf(machine), machine.status ?? {}, written.status);
    },
    forget: overwrites.forget,
  };
}
