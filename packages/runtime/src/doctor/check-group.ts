import type { OwnerIdentity } from "@millwright/controllers/reports";
import type { CheckOutcome } from "@millwright/core";
import {
  clusterApiConditionTypes,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
} from "@millwright/core/machine-api";
import type { Condition } from "@millwright/kube";
import { awaitedWindow, blocksOf } from "../explain/group-causes.ts";

/** Conditions that a user wants, or has to decide about: machines can be created all the same. Others are failures. */
const intended: ReadonlySet<string> = new Set([
  clusterApiConditionTypes.paused,
  deletionProtectedConditionType,
  deletionsHeldConditionType,
]);

/** What a set or deployment waits for, by its conditions: an invalid spec, a hold, a pause, a maintenance window. Nothing of one that waits for no user. */
export function checkGroup(identity: OwnerIdentity, conditions: readonly Condition[]): readonly CheckOutcome[] {
  const blocks = blocksOf(conditions, identity).map(({ condition, remedy }): CheckOutcome => {
    const { type, message = "" } = condition;
    const commands = remedy?.commands.map((command) => ` ${command}`) ?? [];
    return {
      name: type,
      status: intended.has(type) ? "warning" : "failed",
      message,
      ...(remedy === undefined ? {} : { remedy: `${remedy.text}${commands.join(";")}` }),
    };
  });
  const window = awaitedWindow(conditions);
  return window === undefined
    ? blocks
    : [...blocks, { name: "Maintenance window", status: "warning", message: `${window}.` }];
}
