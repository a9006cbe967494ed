import { stripVTControlCharacters } from "node:util";
import { type Machine, type MachineDeployment } from "@millwright/core";
import { deploymentRow, lifecycleSteps, machineRow } from "@millwright/dashboard/rows";
import { deploymentReport, isHeld, readClusterObjects, why } from "@millwright/runtime/reports";
import { renderDeployment } from "../../../packages/cli/src/describe/render-deployment.ts";
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
import type { Stage } from "./situations.ts";

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

/** What commands show of a world, each with its command line. They read it as any client of the API server does. */
export async function lookAt(world: World, subject: string, settle: Stage["settle"]): Promise<readonly Shown[]> {
  const { people } = world;
  const now = new Date(simulationStart.getTime() + world.scheduler.nowMs());
  const objects = await settle(readClusterObjects({ control: people, target: people, namespace }));
  const { deployments, machines } = objects;
  const layout = { now, width: size.columns, lineWidth: size.columns, paint };
  const report = await settle(why(readSubject(subject), objects, now));
  const description = await settle(deploymentReport(poolName, objects, now));
  const table = renderFleet(viewFleet(deployments, machines, now), size.columns, size.rows);
  return [
    [`millwright why ${subject}`, renderWhy(report, layout)],
    [`millwright describe deployment ${poolName}`, renderDeployment(description, layout)],
    ["npm start", `${table.map(stripVTControlCharacters).join("\n")}\n`],
    ["millwright top", `${topOf(machines, deployments, now)}\n`],
  ];
}
