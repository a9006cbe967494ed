import type { Clock, Random } from "@millwright/base";
import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import type { DeploymentRow, MachineRow } from "@millwright/dashboard/rows";
import { type ApiClient, createInformer, type ReadonlyStore } from "@millwright/kube";
import { createThroughput, type Throughput } from "./throughput.ts";

/** How objects become rows. */
export interface RowMakers {
  readonly machineRow: (machine: Machine, isHeld: boolean, previous?: MachineRow) => MachineRow;
  readonly deploymentRow: (deployment: MachineDeployment) => DeploymentRow;
  readonly isHeld: (machine: Machine) => boolean;
}

/** What to follow. */
export interface FollowOptions {
  readonly api: ApiClient;
  /** Absent: all namespaces. */
  readonly namespace: string | undefined;
  readonly rows: RowMakers;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** The rows of a fleet, up to date by watches. */
export interface FollowedFleet {
  readonly machines: ReadonlyMap<string, MachineRow>;
  readonly deployments: ReadonlyMap<string, DeploymentRow>;
  /** Grows with each change of a row. */
  version(): number;
  readonly throughput: Throughput;
  hasSynced(): boolean;
  /** The objects behind the rows. */
  readonly stores: {
    readonly machines: ReadonlyStore<Machine>;
    readonly deployments: ReadonlyStore<MachineDeployment>;
  };
  /** Resolves after the end. */
  readonly ended: Promise<unknown>;
}

/** Follows machines and deployments until the signal aborts. */
export function followFleet({ api, namespace, rows, clock, random, signal }: FollowOptions): FollowedFleet {
  const options = { api, namespace, clock, random };
  const machines = createInformer<Machine>({ ...options, type: machineResource });
  const deployments = createInformer<MachineDeployment>({ ...options, type: machineDeploymentResource });
  const machineRows = new Map<string, MachineRow>();
  const deploymentRows = new Map<string, DeploymentRow>();
  const throughput = createThroughput();
  let version = 0;
  machines.store.subscribe((old, current) => {
    const key = `${(current ?? old)?.metadata.namespace ?? ""}/${(current ?? old)?.metadata.name ?? ""}`;
    const before = machineRows.get(key);
    const after = current && rows.machineRow(current, rows.isHeld(current), before);
    if (after === undefined) machineRows.delete(key);
    else machineRows.set(key, after);
    throughput.record(before, after, clock.monotonicMs());
    version += 1;
  });
  deployments.store.subscribe((old, current) => {
    const key = `${(current ?? old)?.metadata.namespace ?? ""}/${(current ?? old)?.metadata.name ?? ""}`;
    if (current === undefined) deploymentRows.delete(key);
    else deploymentRows.set(key, rows.deploymentRow(current));
    version += 1;
  });
  return {
    machines: machineRows,
    deployments: deploymentRows,
    version: () => version,
    throughput,
    hasSynced: () => machines.hasSynced() && deployments.hasSynced(),
    stores: { machines: machines.store, deployments: deployments.store },
    ended: Promise.allSettled([machines.run(signal), deployments.run(signal)]),
  };
}
