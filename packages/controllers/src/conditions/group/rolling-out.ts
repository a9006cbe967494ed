import { clusterApiConditionTypes, clusterApiReasons as reasons } from "@millwright/core";
import { cutMessage } from "../message-lines.ts";
import type { ConditionState } from "../set-condition.ts";
import type { JudgedMachine } from "./judged-machine.ts";

const type = clusterApiConditionTypes.rollingOut;

/** Every line once: those about the class first, as Cluster API puts the version first, the others by alphabet. */
function reasonLines(outdated: readonly JudgedMachine[], classKind: string): readonly string[] {
  const lines = new Set(
    outdated.flatMap(({ upToDate }) => upToDate?.message.split("\n") ?? []).filter((line) => line !== ""),
  );
  const isOfClass = (line: string): boolean => line.startsWith(`* ${classKind} `);
  const sorted = [...lines].toSorted();
  return [...sorted.filter(isOfClass), ...sorted.filter((line) => !isOfClass(line))];
}

/**
 * Whether machines are left that are not up to date, and in what (cluster-api-conditions.md, 2 and 12).
 *
 * @param classKind kind of the class that the template names
 * @param holds what holds the rollout up, a clause each without bullet: told after the reasons
 */
export function rollingOut(
  machines: readonly JudgedMachine[],
  classKind: string,
  holds: readonly string[],
): ConditionState {
  const outdated = machines.filter(({ upToDate }) => upToDate?.status === "False");
  if (outdated.length === 0) return { type, status: "False", reason: reasons.notRollingOut, message: "" };
  const lines = [
    `Rolling out ${outdated.length} not up-to-date replicas`,
    ...reasonLines(outdated, classKind),
    ...holds.map((hold) => `* ${hold}`),
  ];
  return { type, status: "True", reason: reasons.rollingOut, message: cutMessage(lines.join("\n")) };
}
