import { machineDeploymentResource } from "@millwright/core/machine-api";
import { copyMachine } from "./copies.ts";
import { createClasses, createDeployment, createFleet, createNamespace, scale, untilRunning } from "./fleet.ts";
import type { Scenario, Stage } from "./scenario.ts";

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

const allLead = (stage: Stage): Promise<void> =>
  stage.until(`${stage.programs.length} processes lead`, () =>
    stage.programs.every(({ program }) => program.output().includes('"Leading"')),
  );

/** Starts a process for each namespace, which has a class. */
async function startProcesses(stage: Stage): Promise<void> {
  for (const namespace of namespaces) await stage.startReplica(namespace);
  await allLead(stage);
}

const scaleAll = ({ api }: Stage, replicas: number): Promise<unknown> =>
  Promise.all(
    namespaces.map((namespace) =>
      api.patch(machineDeploymentResource, { namespace, name: namespace }, { spec: { replicas } }, { kind: "merge" }),
    ),
  );

async function createDeployments(stage: Stage, each: number): Promise<void> {
  await Promise.all(namespaces.map((namespace) => createDeployment(stage, namespace, each, { namespace })));
  await untilRunning(stage, PROCESSES * each);
}

/** More machines than one process is for. */
export const tenProcessesScenario: Scenario = {
  name: "ten-processes",
  measures: `${PROCESSES} processes with a namespace each create a MachineDeployment each at once, all joining one cluster; until all machines are Running`,
  short: { machines: 100 },
  long: { machines: 10_000 },
  replicas: 0,
  isOnlyMillwright: true,
  async prepare(stage) {
    for (const namespace of namespaces) await createNamespace(stage, namespace);
    await startProcesses(stage);
  },
  measure: (stage) => createDeployments(stage, Math.ceil(stage.size.machines / PROCESSES)),
};

/**
 * A start of all of them, with more machines than can be created in the time of a measurement: most are copies. One process after another: ten lists of all Nodes at once
 * occupy the only thread of a devcluster for so long that Leases expire.
 */
export const tenProcessesRestartScenario: Scenario = {
  name: "ten-processes-restart",
  measures: `${PROCESSES} processes with a namespace each start one after another in a cluster with a fleet, and one machine more is desired in each namespace; until it is Running`,
  short: { machines: 1000 },
  long: { machines: 100_000 },
  replicas: 0,
  isOnlyMillwright: true,
  async prepare(stage) {
    for (const namespace of namespaces) await createNamespace(stage, namespace);
    await startProcesses(stage);
    await createDeployments(stage, 1);
    await stage.endReplicas("SIGTERM");
    const each = Math.ceil(stage.size.machines / PROCESSES);
    for (const namespace of namespaces) await copyMachine(stage, namespace, each);
    await scaleAll(stage, each + 1);
  },
  async measure(stage) {
    for (const namespace of namespaces) {
      await stage.startReplica(namespace);
      await allLead(stage);
    }
    await untilRunning(stage, PROCESSES * (Math.ceil(stage.size.machines / PROCESSES) + 1));
  },
};
