import { createClasses, createDeployment, createFleet, createNamespace, scale, untilRunning } from "./fleet.ts";
import type { Scenario } from "./scenario.ts";

/** A start with a full cluster. */
export const restartScenario: Scenario = {
  name: "restart",
  measures: "the controllers start in a cluster with a fleet, and one machine more is desired; until it is Running",
  short: { machines: 100 },
  long: { machines: 1000 },
  async prepare(stage) {
    await createFleet(stage);
    await stage.endReplicas("SIGTERM");
    await scale(stage, "fleet", stage.size.machines + 1);
  },
  async measure(stage) {
    await stage.startReplica();
    await stage.untilLeading();
    await untilRunning(stage, stage.size.machines + 1);
  },
};

/** When the leader is killed: this share of the machines is Running. */
const KILLED_AT = 0.25;

/** The death of the leader. The standby waits for its Lease, which is most of the wall time. */
export const failoverScenario: Scenario = {
  name: "failover",
  measures: "as create with two processes, of which the leader is killed when a quarter of the machines is Running",
  short: { machines: 100 },
  long: { machines: 500 },
  replicas: 2,
  // Two of MCM's processes on one computer have one identity: both would lead.
  isOnlyMillwright: true,
  prepare: createClasses,
  async measure(stage) {
    const { machines, size } = stage;
    await createDeployment(stage, "fleet", size.machines);
    await stage.until(
      "a quarter of the machines is Running",
      () => (machines.phases().get("Running") ?? 0) >= KILLED_AT * size.machines,
    );
    await stage.killLeader();
    await untilRunning(stage, size.machines);
  },
};

const PROCESSES = 10;
const namespaces = Array.from({ length: PROCESSES }, (_, index) => `fleet-${index}`);

/** More machines than one process is for. */
export const tenProcessesScenario: Scenario = {
  name: "ten-processes",
  measures: `${PROCESSES} processes with a namespace each create a MachineDeployment each at once, all joining one cluster; until all machines are Running`,
  short: { machines: 100 },
  long: { machines: 100_000 },
  replicas: 0,
  isOnlyMillwright: true,
  async prepare(stage) {
    for (const namespace of namespaces) {
      await createNamespace(stage, namespace);
      await stage.startReplica(namespace);
    }
    await stage.until("all processes lead", () =>
      stage.programs.every(({ program }) => program.output().includes('"Leading"')),
    );
  },
  async measure(stage) {
    const each = Math.ceil(stage.size.machines / PROCESSES);
    await Promise.all(namespaces.map((namespace) => createDeployment(stage, namespace, each, { namespace })));
    await untilRunning(stage, PROCESSES * each);
  },
};
