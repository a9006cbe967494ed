import { stripVTControlCharacters } from "node:util";
import type { Driver } from "@millwright/core";
import type { Machine, MachineDeployment } from "@millwright/core/machine-api";
import { deploymentRow, lifecycleSteps, machineRow } from "@millwright/dashboard/rows";
import { createMockDriver } from "@millwright/provider-mock";
import { diagnose } from "@millwright/runtime/checks";
import { deploymentReport, isHeld, readClusterObjects, why } from "@millwright/runtime/reports";
import { renderDeployment } from "../../../packages/cli/src/describe/render-deployment.ts";
import { renderDiagnosis } from "../../../packages/cli/src/doctor/render-diagnosis.ts";
import { viewFleet } from "../../../packages/cli/src/dev/fleet.ts";
import { renderFleet } from "../../../packages/cli/src/dev/render.ts";
import { renderWhy } from "../../../packages/cli/src/explain/render-why.ts";
import { readSubject } from "../../../packages/cli/src/explain/subject-name.ts";
import { renderTop } from "../../../packages/cli/src/top/render.ts";
import { initialState } from "../../../packages/cli/src/top/state.ts";
import { viewOf } from "../../../packages/cli/src/top/view.ts";
import type { Shown } from "../../harness/transcripts.ts";
import { namespace } from "../world/controller-process.ts";
import { simulationStart } from "../world/scheduler.ts";
import { poolName, type World } from "../world/world.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Stage } from "./staging.ts";

const size = { columns: 80, rows: 24 };
const paint = (_: unknown, text: string): string => text;

function topOf(machines: readonly Machine[], deployments: readonly MachineDeployment[], now: Date): string {
  const rows = machines.map((machine) => machineRow(machine, isHeld(machine)));
  const view = viewOf(rows, deployments.map(deploymentRow), { filter: "", steps: lifecycleSteps });
  const lines = renderTop({
    where: `namespace ${namespace}`,
    hasAllNamespaces: false,
    view,
    state: initialState(),
    steps: lifecycleSteps,
    minute: { running: 0, deleted: 0 },
    hasSynced: true,
    lostForMs: 0,
    explanation: [],
    now,
    size,
    paint,
  });
  return lines.filter((line) => line !== "").join("\n");
}

/** What is asked for, and what of. */
export interface Asked {
  readonly subject: string;
  readonly settle: Stage["settle"];
  readonly driver: Driver | undefined;
}

const layoutOf = (now: Date) => ({ now, width: size.columns, lineWidth: size.columns, paint });

/** What `millwright doctor` finds, without the checks that are ok. */
async function doctorOf({ people, cloudWire, outside }: World, driver: Driver | undefined): Promise<string> {
  const mock = createMockDriver({ cloud: cloudWire.connect(outside) });
  const { subjects, ...diagnosis } = await diagnose({
    control: { api: people },
    namespace,
    classes: [],
    driverFor: async (provider) => (driver?.name === provider.toLowerCase() ? driver : mock),
    clock: outside.clock,
    log: () => undefined,
    signal: new AbortController().signal,
  });
  const found = subjects.map(({ subject, checks }) => ({
    subject,
    checks: checks.filter(({ status }) => status === "failed" || status === "warning"),
  }));
  const shown = found.filter(({ checks }) => checks.length > 0);
  return shown.length === 0 ? "all ok\n" : renderDiagnosis({ ...diagnosis, subjects: shown });
}

/** What the two commands for people who look for a cause show, below what kubectl does. */
export async function lookFor(world: World, { subject, settle, driver }: Asked): Promise<readonly Shown[]> {
  const { people } = world;
  const now = new Date(simulationStart.getTime() + world.scheduler.nowMs());
  const objects = await settle(readClusterObjects({ control: people, target: people, namespace }));
  const report = await settle(why(readSubject(subject), objects, now));
  return [
    ...(await settle(kubectlOf(world))),
    [`millwright why ${subject}`, renderWhy(report, layoutOf(now))],
    ["millwright doctor", await settle(doctorOf(world, driver))],
  ];
}

/** What other commands show of a world, each with its command line. They read it as any client of the API server does. */
export async function lookAt(world: World, settle: Stage["settle"]): Promise<readonly Shown[]> {
  const { people } = world;
  const now = new Date(simulationStart.getTime() + world.scheduler.nowMs());
  const objects = await settle(readClusterObjects({ control: people, target: people, namespace }));
  const { deployments, machines } = objects;
  const description = await settle(deploymentReport(poolName, objects, now));
  const table = renderFleet(viewFleet(deployments, machines, now), size.columns, size.rows);
  return [
    [`millwright describe deployment ${poolName}`, renderDeployment(description, layoutOf(now))],
    ["npm start", `${table.map(stripVTControlCharacters).join("\n")}\n`],
    ["millwright top", `${topOf(machines, deployments, now)}\n`],
  ];
}
