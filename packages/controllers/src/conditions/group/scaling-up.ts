import { clusterApiConditionTypes, clusterApiReasons as reasons } from "@millwright/core/machine-api";
import { type ConditionState, cutMessage } from "@millwright/kube";

/** How many machines there are, and how many there should be. */
export interface Scale {
  /** Machines that exist, terminating ones included. */
  readonly current: number;
  /** 0 for an object that is being deleted. */
  readonly desired: number;
  /** Nothing creates machines until the deployment is resumed: it is paused, and has no set that could grow. Default: false. */
  readonly waitsForResume?: boolean;
}

const type = clusterApiConditionTypes.scalingUp;

/**
 * Whether there are fewer machines than there should be, and what blocks the creation of machines (Cluster API, `machinedeployment_status.go` and `machineset_controller_status.go`). A block is reported
 * before it matters, too.
 *
 * @param blocks a clause each, the most important first; must be empty for an object that is being deleted
 * @param layout a set lists its blocks on lines of their own
 */
export function scalingUp(
  { current, desired, waitsForResume = false }: Scale,
  blocks: readonly string[],
  layout: "sentence" | "list",
): ConditionState {
  const [first] = blocks;
  const sentence = layout === "list" ? first : blocks.join(" and ");
  if (current >= desired) {
    const message = first === undefined ? "" : cutMessage(`Scaling up would be blocked because ${sentence}`);
    return { type, status: "False", reason: reasons.notScalingUp, message };
  }
  if (waitsForResume) {
    const message = `Scaling up from ${current} to ${desired} replicas starts when MachineDeployment is resumed`;
    return { type, status: "False", reason: reasons.paused, message };
  }
  const cause = layout === "list" ? `:\n${blocks.map((block) => `* ${block}`).join("\n")}` : ` ${sentence}`;
  const blocked = first === undefined ? "" : ` is blocked because${cause}`;
  return {
    type,
    status: "True",
    reason: reasons.scalingUp,
    message: cutMessage(`Scaling up from ${current} to ${desired} replicas${blocked}`),
  };
}
