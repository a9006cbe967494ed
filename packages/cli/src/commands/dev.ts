import { ConfigError, isConfigError, systemClock, systemRandom } from "@millwright/base";
import {
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core/machine-api";
import { type ApiClient, createInformer, keepHeapSmall } from "@millwright/kube";
import { type Cluster, startCluster } from "../dev/cluster.ts";
import { createDisplay, type DisplayOptions } from "../dev/display.ts";
import { exampleName } from "../dev/example.ts";
import { missingFrom, viewFleet } from "../dev/fleet.ts";
import { stoppedMessage, startedMessage, suggestedCommands } from "../dev/instructions.ts";
import { openWorkspace } from "../dev/workspace.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright dev`. */
export interface DevFlags {
  readonly port: number;
  readonly dashboardPort: number;
  readonly data?: string;
  readonly kubeconfig?: string;
  readonly example: boolean;
  readonly provider?: readonly string[];
  readonly exitWhenReady?: boolean;
}

/** How long `--exit-when-ready` waits, milliseconds. */
const READY_TIMEOUT_MS = 60_000;

const REDRAW_MS = 1_000;

/** The machines and deployments as any client of the API server sees them. */
function watchFleet(
  api: ApiClient,
  signal: AbortSignal,
): {
  readonly machines: () => readonly Machine[];
  readonly deployments: () => readonly MachineDeployment[];
  readonly ended: Promise<unknown>;
} {
  const options = { api, namespace: "default", clock: systemClock, random: systemRandom };
  const machines = createInformer<Machine>({ ...options, type: machineResource });
  const deployments = createInformer<MachineDeployment>({ ...options, type: machineDeploymentResource });
  const ended = Promise.allSettled([machines.run(signal), deployments.run(signal)]);
  return { machines: () => machines.store.list(), deployments: () => deployments.store.list(), ended };
}

/** The lines of a message, and a blank one. */
const linesOf = (message: string): readonly string[] => [...message.trim().split("\n"), ""];

/** Shows the fleet until the signal aborts, or until the example is ready with `--exit-when-ready`. */
async function show(
  cluster: Cluster,
  flags: DevFlags,
  texts: Pick<DisplayOptions, "header" | "help">,
  signal: AbortSignal,
): Promise<number> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal, cluster.failed]);
  const fleet = watchFleet(cluster.api, both);
  const deadline = systemClock.monotonicMs() + READY_TIMEOUT_MS;
  const display = createDisplay({
    ...texts,
    output: process.stdout,
    input: process.stdin,
    clock: systemClock,
    // As the terminal does it where no keys are read.
    onStop: () => process.kill(process.pid, "SIGINT"),
  });
  try {
    while (!both.aborted) {
      display.update(viewFleet(fleet.deployments(), fleet.machines(), systemClock.now()));
      if (flags.exitWhenReady === true) {
        const example = fleet.deployments().find(({ metadata }) => metadata.name === exampleName);
        const missing = missingFrom(example, fleet.machines());
        if (missing.length === 0) return 0;
        if (systemClock.monotonicMs() > deadline)
          throw new ConfigError(`the example is not ready after ${READY_TIMEOUT_MS / 1000} s: ${missing.join("; ")}`);
      }
      await systemClock.sleep(flags.exitWhenReady === true ? REDRAW_MS / 5 : REDRAW_MS, both).catch(() => undefined);
    }
    if (cluster.failed.aborted) throw cluster.failed.reason;
    // With --exit-when-ready an early end is not success.
    if (flags.exitWhenReady === true) throw signal.reason;
    return 0;
  } finally {
    display.finish();
    stop.abort(new Error("the display ends"));
    await fleet.ended;
  }
}

/** Runs everything on this machine until a stop signal; resolves with the exit status. */
export async function dev(flags: DevFlags): Promise<number> {
  // A cluster on a laptop shares it with everything else: unbounded, the engine keeps as much for garbage as there are objects.
  keepHeapSmall();
  if (flags.exitWhenReady === true && !flags.example) {
    throw new UsageError("--exit-when-ready cannot be combined with --no-example");
  }
  const signal = untilStopSignal();
  const workspace = await openWorkspace(flags.data, flags.kubeconfig);
  try {
    const cluster = await startCluster({
      workspace,
      port: flags.port,
      dashboardPort: flags.dashboardPort,
      withExample: flags.example,
      providers: flags.provider ?? [],
      signal,
    });
    try {
      const started = startedMessage(cluster.url, cluster.dashboardUrl, workspace.kubeconfig);
      const suggested = suggestedCommands(workspace.kubeconfig, flags.example);
      process.stdout.write(started);
      if (flags.exitWhenReady !== true) process.stdout.write(`${suggested}\n`);
      return await show(cluster, flags, { header: linesOf(started), help: linesOf(suggested) }, signal);
    } finally {
      await cluster.close();
      process.stdout.write(stoppedMessage(workspace));
    }
  } catch (error) {
    if (!signal.aborted || (isConfigError(error) && error !== signal.reason)) throw error;
    // Stopped while still starting: not an error, except with --exit-when-ready.
    if (flags.exitWhenReady === true) throw signal.reason;
    process.stdout.write(stoppedMessage(workspace));
    return 0;
  } finally {
    await workspace.remove();
  }
}
