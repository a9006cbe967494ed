import {
  createScenario,
  rollScenario,
  scaleToZeroScenario,
  slowCloudScenario,
  slowCloudToZeroScenario,
  twentyDeploymentsScenario,
} from "./changes.ts";
import { drainScenario } from "./drain.ts";
import { failoverScenario, restartScenario, tenProcessesRestartScenario, tenProcessesScenario } from "./processes.ts";
import { flappingZoneScenario, idleScenario } from "./quiet.ts";
import type { Scenario } from "./scenario.ts";

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  createScenario,
  rollScenario,
  scaleToZeroScenario,
  idleScenario,
  restartScenario,
  failoverScenario,
  twentyDeploymentsScenario,
  tenProcessesScenario,
  tenProcessesRestartScenario,
  drainScenario,
  slowCloudScenario,
  slowCloudToZeroScenario,
  flappingZoneScenario,
];
