import { labelKeys } from "@millwright/core/machine-api";
import type { Machine, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import type { ApiObject } from "@millwright/kube";
import type { FleetReader, FollowedStore } from "../fleet/fleet-reader.ts";
import { deploymentRow, type MachineRow, machineRow, type Row, rowId, setRow } from "../rows/rows.ts";

/** The rows of all objects, each as JSON, made once for all who read them. Deployments and sets come before machines. */
export interface RowCache {
  /** A row as JSON; `undefined` when its object is gone. */
  get(id: string): string | undefined;
  ids(): Iterable<string>;
  /** Follows the caches from now on. `onChange` is called with each row that is new, changed or gone. */
  start(onChange: (id: string) => void): void;
  /** Ends it, and forgets all rows. */
  stop(): void;
}

/** Makes an empty cache of rows. */
export function createRowCache(fleets: readonly FleetReader[]): RowCache {
  const json = new Map<string, string>();
  const machines = new Map<string, MachineRow>();
  let ends: (() => void)[] = [];

  const rowOfMachine =
    ({ namespace, isHeld, classes, nodes }: FleetReader) =>
    (machine: Machine): MachineRow => {
      const id = rowId("machine", machine.metadata);
      const seen = {
        node: nodes?.get(machine.metadata.labels?.[labelKeys.node] ?? ""),
        machineClass: classes.get(`${namespace}/${machine.spec.class?.name ?? ""}`),
      };
      const row = machineRow(machine, isHeld(machine), machines.get(id), seen);
      machines.set(id, row);
      return row;
    };
  function follow<T extends ApiObject>(
    kind: Row["kind"],
    store: FollowedStore<T>,
    rowOf: (object: T) => Row,
    onChange: (id: string) => void,
  ): void {
    const end = store.subscribe((old, current) => {
      const object = current ?? old;
      if (object === undefined) return;
      const id = rowId(kind, object.metadata);
      if (current === undefined) {
        json.delete(id);
        machines.delete(id);
        return onChange(id);
      }
      const row = JSON.stringify(rowOf(current));
      // Most changes of objects, and all resyncs, change nothing that is shown.
      if (json.get(id) === row) return;
      json.set(id, row);
      onChange(id);
    });
    ends.push(end);
  }

  return {
    get: (id) => json.get(id),
    ids: () => json.keys(),
    start(onChange) {
      for (const fleet of fleets) {
        follow<MachineDeployment>("deployment", fleet.deployments, deploymentRow, onChange);
        follow<MachineSet>("set", fleet.sets, setRow, onChange);
        follow<Machine>("machine", fleet.machines, rowOfMachine(fleet), onChange);
      }
    },
    stop() {
      for (const end of ends) end();
      ends = [];
      json.clear();
      machines.clear();
    },
  };
}
