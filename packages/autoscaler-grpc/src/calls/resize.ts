import {
  annotationKeys,
  type Machine,
  type MachineDeployment,
  machineResource,
  readSizeLimits,
  type SizeLimits,
} from "@millwright/core/machine-api";
import { ignoreNotFound } from "@millwright/kube";
import { planDecrease, planDeletion, planIncrease } from "../groups/plan-resize.ts";
import { CallError } from "../wire/call-error.ts";
import type { WireNode } from "../wire/messages.ts";
import type { Group } from "./groups.ts";
import type { ResizeQueue, ResizeTools } from "./resize-queue.ts";

const limitsOf = (current: MachineDeployment, group: Group): SizeLimits => {
  const limits = readSizeLimits(current);
  return typeof limits === "object" ? limits : group.limits;
};

const uidOf = ({ metadata }: MachineDeployment): string => metadata.uid ?? "";

/** @throws CallError, ApiError */
export const increase = (queue: ResizeQueue, group: Group, delta: number, signal: AbortSignal): Promise<void> =>
  queue.change(group, (current) => planIncrease(current, limitsOf(current, group), delta), signal);

/** @throws CallError, ApiError */
export const decrease = (
  queue: ResizeQueue,
  { clock }: ResizeTools,
  group: Group,
  delta: number,
  signal: AbortSignal,
): Promise<void> =>
  queue.change(
    group,
    (current) =>
      planDecrease(current, limitsOf(current, group), delta, {
        machines: group.index.machinesOf(uidOf(current)),
        sets: group.index.setsOf(uidOf(current)),
        now: clock.now(),
      }),
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
  queue: ResizeQueue,
  { control, clock }: ResizeTools,
  group: Group,
  nodes: readonly WireNode[],
  signal: AbortSignal,
): Promise<void> {
  const victims = victimsOf(group, nodes);
  const read = async ({ metadata: { namespace, name, uid } }: Machine): Promise<readonly Machine[]> => {
    const found = await ignoreNotFound(control.get<Machine>(machineResource, { namespace, name }, { signal }));
    return found !== undefined && found.metadata.uid === uid ? [found] : [];
  };
  return queue.change(
    group,
    async (current) =>
      planDeletion(current, limitsOf(current, group), {
        machines: (await Promise.all(victims.map(read))).flat(),
        sets: group.index.setsOf(uidOf(current)),
        now: clock.now(),
      }),
    signal,
  );
}
