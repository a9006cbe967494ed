import {
  clusterApiReasons as reasons,
  machineConditionTypes as types,
  nodeConditionTypes,
  phaseOf,
} from "@millwright/core/machine-api";
import {
  type DerivedCondition,
  findCondition,
  type Severity,
  summarizeConditions,
  type SummaryPart,
} from "@millwright/kube";
import { awaitedStartupOf } from "../../model/node-taints.ts";
import { isDeleting } from "../../model/phase.ts";
import { conflict, infrastructureReady } from "./infrastructure-ready.ts";
import { deleting, deletionProgress } from "./deleting.ts";
import {
  type ConditionOf,
  hadNode,
  type MachineFacts,
  nodeConditionsOf,
  nodeOf,
  phaseSince,
  newCondition,
  timeOf,
} from "./facts.ts";
import { nodeHealthy } from "./node-conditions.ts";
import { healthCheckSucceeded } from "./remediation.ts";
import { updating } from "./updating.ts";

/** Conditions that are expected to be False while a machine is terminating. */
const expectedGone: ReadonlySet<string> = new Set([
  reasons.objectDeleted,
  reasons.objectDoesNotExist,
  reasons.nodeDeleted,
  reasons.nodeDoesNotExist,
]);

/** What a machine waits for whose Node is there. With the copy of healthy conditions alone, it is Pending for nothing else. */
function criticalComponents(facts: MachineFacts, now: Date): DerivedCondition | undefined {
  const isPending = facts.node === "unread" && hadNode(facts) && phaseOf(facts.machine) === "Pending";
  const isJoined = isPending && nodeHealthy(facts, now)?.status === "True";
  const awaited = isJoined ? "the startup of its Node" : awaitedStartupOf(facts.machine, nodeOf(facts));
  return awaited === undefined
    ? undefined
    : newCondition(types.criticalComponentsReady, "False", reasons.nodeNotReady, `Waiting for ${awaited}`);
}

/** Since when a node has been ready, else since when the machine is in its phase. */
const readySince = (facts: MachineFacts): string | undefined =>
  (facts.hasTarget
    ? findCondition(nodeConditionsOf(facts), nodeConditionTypes.ready)?.lastTransitionTime
    : undefined) ?? phaseSince(facts);

/** The aggregate of a machine's conditions: what keeps it from being ready, a line for each. */
export const ready: ConditionOf = (facts, now) => {
  const positive = (condition: DerivedCondition | undefined): readonly SummaryPart[] => {
    if (condition === undefined) return [];
    const isFine = isDeleting(facts.machine) && expectedGone.has(condition.reason);
    const severity: { readonly severity?: Severity } = isFine ? { severity: "info" } : {};
    return [{ type: condition.type, polarity: "positive", condition, ...severity }];
  };
  const going = deleting(facts, now);
  const update = updating(facts, now);
  const shared = conflict(facts, now);
  const hasNoVm = (facts.machine.spec.providerID ?? "") === "" && !isDeleting(facts.machine) && !hadNode(facts);
  const parts: readonly SummaryPart[] = [
    {
      type: types.deleting,
      polarity: "negative",
      condition: going?.status === "True" ? { ...going, message: deletionProgress(facts, now) } : going,
    },
    { type: types.updating, polarity: "negative", condition: update },
    ...(shared === undefined ? [] : [{ type: shared.type, polarity: "negative", condition: shared } as const]),
    ...positive(infrastructureReady(facts, now)),
    // Without a VM, the missing node follows from that.
    ...(hasNoVm ? [] : positive(nodeHealthy(facts, now))),
    ...positive(criticalComponents(facts, now)),
    ...positive(healthCheckSucceeded(facts, now)),
  ];
  const trio = { issue: reasons.notReady, unknown: reasons.readyUnknown, info: reasons.ready };
  const { status, reason, message } = summarizeConditions(types.ready, parts, trio);
  return newCondition(types.ready, status, reason, message, readySince(facts));
};

const minReadyMs = ({ set, deployment }: MachineFacts): number =>
  Math.max(0, set?.spec.minReadySeconds ?? deployment?.spec.minReadySeconds ?? 0) * 1000;

/** Milliseconds until a machine that is ready has been so for long enough; 0 when it has. */
export function untilAvailableMs(facts: MachineFacts, now: Date): number {
  const since = timeOf(readySince(facts));
  return since === undefined ? 0 : Math.max(0, since + minReadyMs(facts) - now.getTime());
}

/** Whether the machine has been ready for `minReadySeconds`. */
export const available: ConditionOf = (facts, now) => {
  const since = readySince(facts);
  if (ready(facts, now)?.status !== "True") return newCondition(types.available, "False", reasons.notReady, "", since);
  return untilAvailableMs(facts, now) > 0
    ? newCondition(types.available, "False", reasons.waitingForMinReadySeconds, "", since)
    : newCondition(types.available, "True", reasons.available, "", since);
};
