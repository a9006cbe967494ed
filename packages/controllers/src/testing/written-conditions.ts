import type { Machine, NodeCondition } from "@millwright/core/machine-api";
import { aMachine, beingDeleted, inPhase } from "./builders.ts";
import { itsNode, lastly, testNow, withVm } from "./snapshots.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import type { MachineFacts } from "../conditions/machine/facts.ts";
import { machineConditions } from "../conditions/machine/machine-conditions.ts";

/** Milliseconds of a minute. */
export const MINUTE = 60_000;

/** What a healthy kubelet reports. */
export const kubelet: readonly NodeCondition[] = [
  { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:05:00Z" },
  { type: "MemoryPressure", status: "False" },
  { type: "DiskPressure", status: "False" },
  { type: "PIDPressure", status: "False" },
];

/** The kubelet's conditions, some of them replaced. */
export const reporting = (...changed: readonly NodeCondition[]): readonly NodeCondition[] => [
  ...kubelet.filter(({ type }) => changed.every((other) => other.type !== type)),
  ...changed,
];

/** A machine that runs, with the conditions of its node. */
export const running = aMachine(withVm, inPhase("Running"), { status: { conditions: kubelet } });

/** The facts about a machine: nothing unusual except the changes. */
export const facts = (machine: Machine = running, change: Partial<MachineFacts> = {}): MachineFacts => ({
  machine,
  hasTarget: true,
  isTargetReachable: true,
  node: itsNode({ status: { conditions: kubelet } }),
  hasClass: true,
  settings: defaultMachineSettings,
  ...change,
});

/** `True Reason message` of one condition. */
export const conditionText = (type: string, given: MachineFacts, now = testNow): string | undefined => {
  const condition = machineConditions(given, now).find((each) => each.type === type);
  return condition === undefined ? undefined : `${condition.status} ${condition.reason} ${condition.message}`.trim();
};

/** Facts of a machine whose node reports so. */
export const withConditions = (...changed: readonly NodeCondition[]): Partial<MachineFacts> => ({
  node: itsNode({ status: { conditions: reporting(...changed) } }),
});

/** A machine whose deletion has begun and is recorded. */
export const going = (description: string, phase: "Terminating" | "Failed" = "Terminating"): Machine =>
  aMachine(running, beingDeleted(), inPhase(phase), lastly("Delete", "Processing", description));
