import { ConfigError, systemClock } from "@millwright/base";
import { formatProblems } from "@millwright/core/machine-api";
import { createApiClient, loadKubeConfig } from "@millwright/kube";
import type { ClusterState, Plan, PlannedChange } from "@millwright/plan";
import { exitStatus } from "../terminal/exit-status.ts";
import { renderPlan } from "../plan/render-plan.ts";
import { loadTargetConfig, type TargetFlags } from "../target/target-kubeconfig.ts";
import { outputStyle } from "../terminal/output-style.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { untilStopSignal } from "../terminal/signals.ts";
import { renderNamespaces } from "../target/all-namespaces.ts";
import { type AllNamespacesFlags, controlKubeConfig } from "../target/cluster-flags.ts";

/** Flags of `millwright plan`. */
export interface PlanFlags extends TargetFlags, AllNamespacesFlags {
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

/** Where the state of a namespace is read from. */
interface StateSource {
  /** The namespace of manifests that name none, with `-A`. */
  readonly configured: string;
  /** Whether machines join another cluster: there the controllers hold no deletions by default. */
  readonly hasOtherTarget: boolean;
  read(namespace: string | undefined): Promise<ClusterState>;
  close(): Promise<unknown>;
}

/** Opens files, or live clusters. */
async function openState(flags: PlanFlags): Promise<StateSource> {
  const { readClusterState, readManifests, stateOfManifests } = await import("@millwright/plan");
  const hasTarget = flags.targetKubeconfig !== "none";
  if (flags.state !== undefined) {
    const manifests = await readManifests(flags.state);
    return {
      configured: "default",
      hasOtherTarget: false,
      read: (namespace) => Promise.resolve(stateOfManifests(manifests, namespace, hasTarget)),
      close: () => Promise.resolve(),
    };
  }
  const config = await loadKubeConfig(controlKubeConfig(flags));
  const isSeparate = flags.targetKubeconfig !== undefined && hasTarget;
  const targetConfig = isSeparate ? await loadTargetConfig(flags) : undefined;
  const control = createApiClient(config, { userAgent: "millwright" });
  const target = targetConfig === undefined ? control : createApiClient(targetConfig, { userAgent: "millwright" });
  const configured = config.namespace ?? "default";
  const signal = untilStopSignal();
  return {
    configured,
    hasOtherTarget: targetConfig !== undefined && targetConfig.server !== config.server,
    read: (namespace = configured) =>
      readClusterState({
        control,
        ...(hasTarget ? { target } : {}),
        namespace,
        wantsEvents: flags.drainTime === undefined,
        signal,
      }),
    close: () => Promise.all([control.close(), ...(isSeparate ? [target.close()] : [])]),
  };
}

/** The changes of each namespace. With `-A` manifests are of the namespace that they name. */
function byNamespace(
  changes: readonly PlannedChange[],
  flags: PlanFlags,
  configured: string,
): ReadonlyMap<string | undefined, readonly PlannedChange[]> {
  if (flags.allNamespaces !== true) return new Map([[flags.namespace, changes]]);
  const groups = Map.groupBy(changes, (change) =>
    change.kind === "apply" ? (change.object.metadata.namespace ?? configured) : configured,
  );
  return new Map([...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Prints the effects of changes; resolves with the exit status. Reads only. */
export async function plan(flags: PlanFlags): Promise<number> {
  if (flags.allNamespaces === true && (flags.scale !== undefined || flags.delete !== undefined))
    throw new UsageError("--all-namespaces: --scale and --delete name objects of one namespace; use --namespace");
  const changes = await readChanges(flags);
  const { planChanges } = await import("@millwright/plan");
  const { joinTime: joinMs, drainTime: deletionMs } = flags;
  const durations = {
    ...(joinMs === undefined ? {} : { joinMs }),
    ...(deletionMs === undefined ? {} : { deletionMs }),
  };
  const source = await openState(flags);
  const share = source.hasOtherTarget ? { maxDeletionShare: 0 } : {};
  const plans: Plan[] = [];
  try {
    for (const [namespace, group] of byNamespace(changes, flags, source.configured)) {
      const state = await source.read(namespace);
      plans.push(await planChanges(state, group, { now: state.takenAt ?? systemClock.now(), durations, ...share }));
    }
  } finally {
    await source.close();
  }
  const rejected = plans.flatMap((each) => each.changes).find(({ outcome }) => outcome === "rejected");
  if (rejected !== undefined) {
    const problems = formatProblems(rejected.problems);
    throw new ConfigError(`${rejected.kind} "${rejected.name}" would be rejected: ${problems}`);
  }
  const { lineWidth } = outputStyle();
  process.stdout.write(renderNamespaces(plans, flags, (each) => renderPlan(each, lineWidth)));
  return plans.some(({ hasEffect }) => hasEffect) ? exitStatus.differs : exitStatus.done;
}
