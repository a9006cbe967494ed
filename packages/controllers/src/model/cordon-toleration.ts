import { taintEffects, taintKeys } from "@millwright/core/machine-api";
import type { Pod, Toleration } from "./node-objects.ts";

/** Key of the taint that Kubernetes adds to a cordoned node. */
export const unschedulableTaint = "node.kubernetes.io/unschedulable";

/** Taints that keep new pods off a node that is drained: of a cordon, and of a preservation. */
export type DrainTaint = typeof unschedulableTaint | typeof taintKeys.preserved;

/** Whether it tolerates the taint, whose effect is NoSchedule and whose value is empty. */
const matches = ({ key = "", operator = "Equal", value = "", effect = "" }: Toleration, taint: DrainTaint): boolean =>
  (effect === "" || effect === taintEffects.noSchedule) &&
  (key === "" ? operator === "Exists" : key === taint && (operator === "Exists" || value === ""));

/** The tolerations of a pod that a drain reads: those of a taint that keeps new pods off a drained node. */
export const drainTolerations = ({ spec }: Pod): readonly Toleration[] =>
  (spec?.tolerations ?? []).filter((each) => matches(each, unschedulableTaint) || matches(each, taintKeys.preserved));

/** Whether the scheduler may place the pod on a node with the taint. */
export const toleratesTaint = ({ spec }: Pod, taint: DrainTaint): boolean =>
  (spec?.tolerations ?? []).some((each) => matches(each, taint));
