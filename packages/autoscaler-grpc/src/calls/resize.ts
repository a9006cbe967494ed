import {
  annotationKeys,
  type Clock,
  type Machine,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
} from "@millwright/core";
import { type ApiClient, ignoreNotFound, isConflict, type Log } from "@millwright/kube";
import { planDecrease, planDeletion, planIncrease, type ResizePlan } from "../groups/plan-resize.ts";
import { readSizeLimits, type SizeLimits } from "../groups/size-limits.ts";
import { CallError } from "../wire/call-error.ts";
import type { WireNode } from "../wire/messages.ts";
import type { Group } from "./groups.ts";

/** With what deployments are read and changed. */
export interface ResizeTools {
  readonly control: Pick<ApiClient, "get" | "patch">;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a change is computed again after a conflict. */
const ATTEMPTS = 5;

/** Reads a deployment from the API server: two autoscalers in a row must not compute from the same size of a cache. */
export const readDeployment = (
  { control }: Pick<ResizeTools, "control">,
  { deployment: { metadata } }: Group,
  signal: AbortSignal,
): Promise<MachineDeployment> =>
  control.get<MachineDeployment>(
    machineDeploymentResource,
    { namespace: metadata.namespace, name: metadata.name },
    { signal },
  );

/** Changes a deployment as planned from its current state; a conflict plans again. */
async function resize(
  tools: ResizeTools,
  group: Group,
  plan: (current: MachineDeployment) => ResizePlan | Promise<ResizePlan>,
  signal: AbortSignal,
): Promise<void> {
  const { control, log } = tools;
  for (let attempt = 1; ; attempt += 1) {
    const current = await readDeployment(tools, group, signal);
    const { namespace, name, resourceVersion, uid } = current.metadata;
    const change = await plan(current);
    if (change.kind === "none") return;
    if (change.kind === "rejected") throw new CallError(change.code, `MachineDeployment ${name}: ${change.message}`);
    const { replicas, annotations } = change;
    const patch = {
      ...(Object.keys(annotations).length === 0 ? {} : { metadata: { annotations } }),
      spec: { replicas },
    };
    try {
      await control.patch(machineDeploymentResource, { namespace, name }, patch, {
        kind: "merge",
        resourceVersion,
        uid,
        signal,
      });
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      continue;
    }
    const named = annotations[annotationKeys.triggerDeletion];
    log("info", "The cluster autoscaler changed the size of a deployment", {
      kind: "MachineDeployment",
      namespace,
      name,
      because: `replicas ${current.spec.replicas ?? 0} -> ${replicas}${named === undefined ? "" : `; to delete: ${named}`}`,
    });
    return;
  }
}

const limitsOf = (current: MachineDeployment, group: Group): SizeLimits => {
  const limits = readSizeLimits(current);
  return typeof limits === "object" ? limits : group.limits;
};

/** @throws CallError, ApiError */
export const increase = (tools: ResizeTools, group: Group, delta: number, signal: AbortSignal): Promise<void> =>
  resize(tools, group, (current) => planIncrease(current, limitsOf(current, group), delta), signal);

/** @throws CallError, ApiError */
export const decrease = (tools: ResizeTools, group: Group, delta: number, signal: AbortSignal): Promise<void> =>
  resize(
    tools,
    group,
    (current) =>
      planDecrease(current, limitsOf(current, group), delta, group.index.machinesOf(current.metadata.uid ?? "")),
    signal,
  );

/** The machines of a group that nodes belong to, by the cache. */
function victimsOf({ fleet, index, deployment }: Group, nodes: readonly WireNode[]): readonly Machine[] {
  return nodes.map((node) => {
    const what = `Node ${node.name || node.providerID}`;
    const machine = index.machineOf(node);
    if (machine === undefined) throw new CallError("NOT_FOUND", `${what} belongs to no Machine`);
    if (index.deploymentOf(machine) !== deployment.metadata.uid)
      throw new CallError(
        "INVALID_ARGUMENT",
        `${what} does not belong to MachineDeployment ${deployment.metadata.name}`,
      );
    const annotations = { ...fleet.nodes?.get(node.name)?.metadata.annotations, ...node.annotations };
    if (annotations[annotationKeys.scaleDownDisabled] === "true")
      throw new CallError("FAILED_PRECONDITION", `${what} has the annotation ${annotationKeys.scaleDownDisabled}`);
    return machine;
  });
}

/**
 * Deletes the machines of nodes, each once, however often it is requested: the machines are read after the deployment, as a cache may not show yet that one is being deleted.
 *
 * @throws CallError, ApiError
 */
export function deleteNodes(
  tools: ResizeTools,
  group: Group,
  nodes: readonly WireNode[],
  signal: AbortSignal,
): Promise<void> {
  const victims = victimsOf(group, nodes);
  const read = async ({ metadata: { namespace, name, uid } }: Machine): Promise<readonly Machine[]> => {
    const found = await ignoreNotFound(tools.control.get<Machine>(machineResource, { namespace, name }, { signal }));
    return found !== undefined && found.metadata.uid === uid ? [found] : [];
  };
  return resize(
    tools,
    group,
    async (current) => {
      const existing = (await Promise.all(victims.map(read))).flat();
      const activeSets = group.index
        .setsOf(current.metadata.uid ?? "")
        .filter(({ spec }) => (spec.replicas ?? 0) > 0).length;
      return planDeletion(current, limitsOf(current, group), existing, { activeSets, now: tools.clock.now() });
    },
    signal,
  );
}
