import { clusterApiConditionTypes, clusterApiReasons as reasons } from "@millwright/core/machine-api";
import { type ConditionState, cutMessage, shortenNames } from "@millwright/kube";
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
 * Whether machines are left that are not up to date, and in what (Cluster API, `machinedeployment_status.go`). Unlike in Cluster API machines that are about to be created count
 * as well: a client that waits right after a change of the template must not see the end of the rollout, and then new machines of old templates.
 *
 * @param classKind kind of the class that the template names
 * @param coming names of sets of older templates that may still create machines
 * @param holds what blocks the rollout, a clause each without bullet, listed after the reasons
 */
export function rollingOut(
  machines: readonly JudgedMachine[],
  classKind: string,
  coming: readonly string[],
  holds: readonly string[],
): ConditionState {
  const outdated = machines.filter(({ upToDate }) => upToDate?.status === "False");
  if (outdated.length === 0 && coming.length === 0)
    return { type, status: "False", reason: reasons.notRollingOut, message: "" };
  const title = `Rolling out ${outdated.length} not up-to-date replicas`;
  if (outdated.length === 0) {
    const message = `${title}\n* MachineSet ${shortenNames(coming)} may still create machines`;
    return { type, status: "True", reason: reasons.rollingOut, message };
  }
  const lines = [title, ...reasonLines(outdated, classKind), ...holds.map((hold) => `* ${hold}`)];
  return { type, status: "True", reason: reasons.rollingOut, message: cutMessage(lines.join("\n")) };
}
