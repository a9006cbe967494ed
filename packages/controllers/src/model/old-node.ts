import type { Machine } from "@millwright/core/machine-api";
import type { Node } from "./node-objects.ts";

const timeOf = (text: string | null | undefined): number => Date.parse(text ?? "") || 0;

/**
 * Tolerated difference between the clocks of a kubelet and of the API servers, milliseconds. The skew of the API servers is measured, that of a kubelet is not; machines that run Kubernetes keep their
 * clocks by NTP, and certificates fail before a clock is off by much more.
 */
const kubeletClockErrorMs = 2 * 60_000;

/** When the kubelet last reported, or its Ready condition last changed; wall clock of the node, milliseconds. */
export const lastReportOf = ({ status }: Node): number =>
  Math.max(
    0,
    ...(status?.conditions ?? []).flatMap(({ type, lastHeartbeatTime, lastTransitionTime }) => [
      timeOf(lastHeartbeatTime),
      type === "Ready" ? timeOf(lastTransitionTime) : 0,
    ]),
  );

/**
 * Whether a Node is left over from before its machine, as far as times can show it: it is older than the machine, and no kubelet has reported since the machine was created. A VM that registers under the name
 * of a Node that exists takes over that Node, which keeps its creation time; a restored Machine is younger than its Node, too. In both cases the kubelet reports again. Only a Node
 * that is older by more than the clock of a kubelet may be off has to report later than that, too.
 *
 * @param clockAheadMs by how much the clock of the API server of the Nodes is ahead of that of the Machines
 */
export function isLeftoverNode(node: Node, { metadata }: Machine, clockAheadMs: number): boolean {
  const madeAt = timeOf(metadata.creationTimestamp) + clockAheadMs;
  const ageMs = madeAt - timeOf(node.metadata.creationTimestamp);
  if (node.metadata.creationTimestamp == null || ageMs <= 0) return false;
  return lastReportOf(node) <= madeAt + (ageMs > kubeletClockErrorMs ? kubeletClockErrorMs : 0);
}
