import type { Machine, MachineClass, MachineDeployment, MachineSet } from "@millwright/core/machine-api";
import { createStore, type Store } from "@millwright/kube";
import type { FleetReader } from "../fleet/fleet-reader.ts";

/** A fleet whose caches tests fill. */
export interface TestFleet {
  readonly fleet: FleetReader;
  readonly machines: Store<Machine>;
  readonly sets: Store<MachineSet>;
  readonly deployments: Store<MachineDeployment>;
}

/** Makes an empty fleet; reports are the objects themselves. */
export function createTestFleet(change: Partial<FleetReader> = {}): TestFleet {
  const machines = createStore<Machine>();
  const sets = createStore<MachineSet>();
  const deployments = createStore<MachineDeployment>();
  const fleet: FleetReader = {
    namespace: "ns",
    machines,
    sets,
    deployments,
    classes: createStore<MachineClass>(),
    isHeld: () => false,
    lostForMs: () => 0,
    runningCalls: () => [],
    endedCalls: () => [],
    describeMachine: (name) => Promise.resolve({ machine: machines.get(`ns/${name}`) }),
    describeDeployment: (name) => Promise.resolve({ deployment: deployments.get(`ns/${name}`) }),
    events: () => Promise.resolve([]),
    ...change,
  };
  return { fleet, machines, sets, deployments };
}

let versions = 0;

/** A running machine. */
export const aMachine = (name: string, change: Partial<Machine> = {}): Machine => ({
  metadata: {
    name,
    namespace: "ns",
    uid: `uid-${name}`,
    resourceVersion: String((versions += 1)),
    creationTimestamp: "2026-01-01T00:00:00Z",
  },
  spec: { providerID: `mock:///${name}` },
  status: { currentStatus: { phase: "Running", lastUpdateTime: "2026-01-01T00:01:00Z" } },
  ...change,
});
