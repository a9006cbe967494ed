import { allHaveClass, createClasses, createDeployment, createFleet, scale, setClass, untilRunning } from "./fleet.ts";
import type { Scenario, Stage } from "./scenario.ts";

async function createAndWait(stage: Stage): Promise<void> {
  await createDeployment(stage, "fleet", stage.size.machines);
  await untilRunning(stage, stage.size.machines);
}

/** A fleet from nothing. */
export const createScenario: Scenario = {
  name: "create",
  measures: "one MachineDeployment is created; until all its machines are Running",
  short: { machines: 100 },
  long: { machines: 1000 },
  hasFloor: true,
  prepare: createClasses,
  measure: createAndWait,
};

/** The same with a cloud that takes its time. */
export const slowCloudScenario: Scenario = {
  name: "slow-cloud",
  measures: "as create, with a cloud whose calls take a second each",
  short: { machines: 100 },
  long: { machines: 500 },
  world: { cloudLatencyMs: 1_000 },
  prepare: createClasses,
  measure: createAndWait,
};

const DEPLOYMENTS = 20;

/** Many deployments at once; each has at least one machine. */
export const twentyDeploymentsScenario: Scenario = {
  name: "twenty-deployments",
  measures: `${DEPLOYMENTS} MachineDeployments of the same size are created at once; until all their machines are Running`,
  short: { machines: 100 },
  long: { machines: 500 },
  prepare: createClasses,
  async measure(stage) {
    const each = Math.max(1, Math.floor(stage.size.machines / DEPLOYMENTS));
    const names = Array.from({ length: DEPLOYMENTS }, (_, index) => `fleet-${index}`);
    await Promise.all(names.map((name) => createDeployment(stage, name, each)));
    await untilRunning(stage, DEPLOYMENTS * each);
  },
};

/** A rolling update. */
export const rollScenario: Scenario = {
  name: "roll",
  measures:
    "the class of a MachineDeployment changes, with a surge and an unavailability of 10 %; until all machines are new",
  short: { machines: 20 },
  long: { machines: 100 },
  prepare: createFleet,
  async measure(stage) {
    await setClass(stage, "fleet", "large");
    const { machines, size } = stage;
    await stage.until(
      "all machines are new and Running",
      () =>
        machines.size === size.machines &&
        machines.phases().get("Running") === size.machines &&
        allHaveClass(stage, "large"),
    );
  },
};

/** The deletion of a fleet. */
export const scaleToZeroScenario: Scenario = {
  name: "scale-to-zero",
  measures: "a MachineDeployment is scaled to 0, with its deletions approved; until no machine is left",
  short: { machines: 100 },
  long: { machines: 1000 },
  hasFloor: true,
  hasSameRequests: true,
  prepare: createFleet,
  async measure(stage) {
    await scale(stage, "fleet", 0);
    await stage.until("no machine is left", () => stage.machines.size === 0);
  },
};

/** The same with a cloud that takes its time. */
export const slowCloudToZeroScenario: Scenario = {
  ...scaleToZeroScenario,
  name: "slow-cloud-to-zero",
  measures: "as scale-to-zero, with a cloud whose calls take a second each",
  long: { machines: 500 },
  hasFloor: false,
  hasSameRequests: false,
  world: { cloudLatencyMs: 1_000 },
};
