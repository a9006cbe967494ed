import { ConfigError, formatProblems, systemClock } from "@millwright/core";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ClusterState, PlannedChange } from "@millwright/plan";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderPlan } from "../plan/render-plan.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { controlKubeConfig, type NamespaceFlags } from "../target/cluster-flags.ts";

/** Flags of `millwright plan`. */
export interface PlanFlags extends TargetFlags, NamespaceFlags {
  readonly filename?: readonly string[];
  readonly scale?: readonly string[];
  readonly delete?: readonly string[];
  readonly state?: string;
  readonly joinTime?: number;
  readonly drainTime?: number;
  readonly output: "text" | "json";
}

type Kind = "MachineDeployment" | "MachineSet" | "Machine";

const kindsByWord: ReadonlyMap<string, Kind> = new Map([
  ...(["machinedeployment", "machinedeployments", "mcd"] as const).map((word) => [word, "MachineDeployment"] as const),
  ...(["machineset", "machinesets", "mcs"] as const).map((word) => [word, "MachineSet"] as const),
  ...(["machine", "machines", "mc"] as const).map((word) => [word, "Machine"] as const),
]);

/** `NAME` or `KIND/NAME`; `undefined` for anything else. */
function readName(text: string): { readonly of: Kind | undefined; readonly name: string } | undefined {
  const [first = "", second, ...rest] = text.split("/");
  const of = kindsByWord.get(first.toLowerCase());
  const name = second ?? first;
  if (name === "" || rest.length > 0 || (second !== undefined && of === undefined)) return undefined;
  return { of: second === undefined ? undefined : of, name };
}

function readScale(text: string): PlannedChange {
  const [, who = "", replicas] = /^([^=]+)=(\d{1,7})$/.exec(text) ?? [];
  const named = readName(who);
  if (named === undefined || named.of === "Machine" || replicas === undefined) {
    throw new UsageError(
      `--scale ${text}: expected NAME=REPLICAS with a whole number from 0 to 9999999, such as pool=5, or KIND/NAME=REPLICAS with machinedeployment or machineset`,
    );
  }
  const { of, name } = named;
  return { kind: "scale", ...(of === undefined ? {} : { of }), name, replicas: Number(replicas) };
}

function readDeletion(text: string): PlannedChange {
  const named = readName(text);
  if (named === undefined) {
    throw new UsageError(
      `--delete ${text}: expected the name of a MachineDeployment, or KIND/NAME with machinedeployment, machineset or machine`,
    );
  }
  return { kind: "delete", of: named.of ?? "MachineDeployment", name: named.name };
}

async function readChanges({
  filename = [],
  scale = [],
  delete: deletions = [],
}: PlanFlags): Promise<readonly PlannedChange[]> {
  const { readManifests } = await import("@millwright/plan");
  const files = await Promise.all(filename.map((path) => readManifests(path)));
  const changes = [
    ...files.flat().map((manifest): PlannedChange => ({ kind: "apply", ...manifest })),
    ...scale.map(readScale),
    ...deletions.map(readDeletion),
  ];
  if (changes.length === 0) throw new UsageError("nothing to plan: add --filename, --scale or --delete");
  return changes;
}

/** Reads the state from files, or from live clusters whose clients are closed afterwards. */
async function withState<T>(flags: PlanFlags, use: (state: ClusterState) => Promise<T>): Promise<T> {
  const { readClusterState, readManifests, stateOfManifests } = await import("@millwright/plan");
  const hasTarget = flags.targetKubeconfig !== "none";
  if (flags.state !== undefined) {
    return use(stateOfManifests(await readManifests(flags.state), flags.namespace, hasTarget));
  }
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const control = createApiClient(config, { userAgent: "millwright" });
  const isSeparate = flags.targetKubeconfig !== undefined && hasTarget;
  const target = isSeparate
    ? createApiClient(await loadTargetConfig(flags), {
        userAgent: "millwright",
      })
    : control;
  try {
    const namespace = flags.namespace ?? config.namespace ?? "default";
    return await use(
      await readClusterState({
        control,
        ...(hasTarget ? { target } : {}),
        namespace,
        wantsEvents: flags.drainTime === undefined,
        signal: untilStopSignal(),
      }),
    );
  } finally {
    await Promise.all([control.close(), ...(isSeparate ? [target.close()] : [])]);
  }
}

/** Prints the effects of changes; resolves with the exit status. Reads only. */
export async function plan(flags: PlanFlags): Promise<number> {
  const changes = await readChanges(flags);
  const { planChanges } = await import("@millwright/plan");
  const { joinTime: joinMs, drainTime: deletionMs } = flags;
  const durations = {
    ...(joinMs === undefined ? {} : { joinMs }),
    ...(deletionMs === undefined ? {} : { deletionMs }),
  };
  const result = await withState(flags, (state) => planChanges(state, changes, { now: systemClock.now(), durations }));
  const rejected = result.changes.find(({ outcome }) => outcome === "rejected");
  if (rejected !== undefined) {
    const problems = formatProblems(rejected.problems).replaceAll("\n", "; ");
    throw new ConfigError(`${rejected.kind} "${rejected.name}" would be rejected: ${problems}`);
  }
  process.stdout.write(flags.output === "json" ? `${JSON.stringify(result, undefined, 2)}\n` : renderPlan(result));
  return result.hasEffect ? exitStatus.differs : exitStatus.done;
}
