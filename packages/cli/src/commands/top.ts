import { styleText } from "node:util";
import { systemClock, systemRandom } from "@millwright/base";
import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { listAll } from "@millwright/kube";
import type { MachineRow } from "@millwright/dashboard/rows";
import { renderWhy } from "../explain/render-why.ts";
import { type Clusters, withClusters } from "../explain/with-objects.ts";
import type { AllNamespacesFlags } from "../target/cluster-flags.ts";
import type { TargetFlags } from "../target/target-kubeconfig.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { readKeys } from "../terminal/read-keys.ts";
import { openScreen } from "../terminal/screen.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { type FollowedFleet, followFleet } from "../top/follow-fleet.ts";
import { type Look, renderTopOnce } from "../top/render.ts";
import { createSession } from "../top/session.ts";
import { viewOf } from "../top/view.ts";

/** Flags of `millwright top`. */
export interface TopFlags extends TargetFlags, AllNamespacesFlags {
  readonly filter?: string;
}

/** How often changes are shown, milliseconds. */
const REDRAW_MS = 250;

/** How often ages are shown while nothing changes, in redraws. */
const AGES_EVERY = 4;

/** Lines of an explanation that are kept. */
const MAX_LINES = 2_000;

const colors = {
  ok: "green",
  busy: "cyan",
  warn: "yellow",
  bad: "red",
  quiet: "dim",
  title: "bold",
  selected: "inverse",
} as const;

/** Colors a part of the screen. */
export const paint = (look: Look, text: string): string => styleText(colors[look], text, { stream: process.stdout });

/**
 * A full-screen view needs a terminal to draw on and to read keys from.
 *
 * @throws UsageError without one
 */
function requireTerminal(): void {
  if (process.stdin.isTTY && process.env["TERM"] !== "dumb") return;
  throw new UsageError('top needs a terminal for its input, too; "millwright top | cat" prints the machines once');
}

/** Prints the machines once, as for a pipe; resolves with the exit status. */
async function printOnce(flags: TopFlags): Promise<number> {
  const [{ deploymentRow, lifecycleSteps: steps, machineRow }, { explainFailure, isHeld }] = await Promise.all([
    import("@millwright/dashboard/rows"),
    import("@millwright/runtime/reports"),
  ]);
  const signal = untilStopSignal();
  const { filter = "", allNamespaces } = flags;
  await withClusters(flags, async ({ control, ...clusters }) => {
    const namespace = allNamespaces === true ? undefined : clusters.namespace;
    const options = { namespace, omitManagedFields: true };
    const [machines, deployments] = await Promise.all([
      listAll<Machine>(control, machineResource, options, { signal }),
      listAll<MachineDeployment>(control, machineDeploymentResource, options, { signal }),
    ]).catch((error: unknown) => {
      throw explainFailure(error, "top needs to list machines and machinedeployments");
    });
    const rows = machines.items.map((machine) => machineRow(machine, isHeld(machine)));
    const view = viewOf(rows, deployments.items.map(deploymentRow), { filter, steps });
    const where = namespace === undefined ? "all namespaces" : `namespace ${namespace}`;
    const now = (control.serverTime ?? systemClock).now();
    const screen = { where, hasAllNamespaces: namespace === undefined, view, steps, now };
    process.stdout.write(renderTopOnce(screen, filter));
  });
  return exitStatus.done;
}

/** Explains a machine as `millwright why` does. Its objects come from the caches, as far as they are there. */
async function explainMachine(
  { namespace, name }: MachineRow,
  { control, target }: Clusters,
  { stores }: FollowedFleet,
  { width, signal }: { readonly width: number; readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { createCachedReader, readClusterObjects, why } = await import("@millwright/runtime/reports");
  const reader = createCachedReader(control, [
    { type: machineResource, store: stores.machines },
    { type: machineDeploymentResource, store: stores.deployments },
  ]);
  const objects = await readClusterObjects({ control: reader, target, namespace, signal });
  const now = (control.serverTime ?? systemClock).now();
  const report = await why({ kind: "Machine", name }, objects, now);
  const text = renderWhy(report, { now, width, paint: (_, each) => each });
  return text.split("\n").slice(0, MAX_LINES);
}

/** Shows machines on the whole screen until a user or a signal ends it; resolves with the exit status. Reads only. */
export async function topCommand(flags: TopFlags): Promise<number> {
  if (!process.stdout.isTTY) return printOnce(flags);
  requireTerminal();
  const [{ deploymentRow, lifecycleSteps, machineRow }, { explainFailure, isHeld }] = await Promise.all([
    import("@millwright/dashboard/rows"),
    import("@millwright/runtime/reports"),
  ]);
  const quit = new AbortController();
  const signal = AbortSignal.any([untilStopSignal(), quit.signal]);
  await withClusters(flags, async (clusters) => {
    const { control } = clusters;
    const namespace = flags.allNamespaces === true ? undefined : clusters.namespace;
    // Watches repeat what fails without an end; what cannot work is reported before the screen is taken.
    await control
      .list(machineResource, { namespace, limit: 1, omitManagedFields: true }, { signal })
      .catch((error: unknown) => {
        throw explainFailure(error, "top needs to list and watch machines and machinedeployments");
      });
    const stop = new AbortController();
    const rows = { machineRow, deploymentRow, isHeld };
    const both = AbortSignal.any([signal, stop.signal]);
    const followed = { api: control, namespace, rows, clock: systemClock, random: systemRandom, signal: both };
    const fleet = followFleet(followed);
    const screen = openScreen(process.stdout, () => session.redraw());
    const session = createSession({
      where: namespace === undefined ? "all namespaces" : `namespace ${namespace}`,
      hasAllNamespaces: namespace === undefined,
      filter: flags.filter ?? "",
      steps: lifecycleSteps,
      fleet,
      explain: (machine, width) => explainMachine(machine, clusters, fleet, { width, signal: both }),
      lostForMs: () => control.connectivity?.lostForMs() ?? 0,
      size: screen.size,
      paint,
      clock: systemClock,
      now: () => (control.serverTime ?? systemClock).now(),
      draw: screen.draw,
      quit: () => quit.abort(),
    });
    const endKeys = readKeys(process.stdin, {
      onKey: session.press,
      onEnd: () => quit.abort(),
      onSuspend: screen.leave,
      onContinue: screen.enter,
    });
    try {
      let shown = -1;
      for (let turn = 0; !both.aborted; turn += 1) {
        if (turn % AGES_EVERY === 0 || shown !== fleet.version()) session.redraw();
        shown = fleet.version();
        await systemClock.sleep(REDRAW_MS, both).catch(() => undefined);
      }
    } finally {
      endKeys();
      screen.close();
      stop.abort(new Error("top ends"));
      await fleet.ended;
    }
  });
  return exitStatus.done;
}
