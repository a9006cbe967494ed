import { type Taint, taintEffects, taintKeys } from "@millwright/core";
import type { Node } from "./node-objects.ts";

const startupTaintKeys: ReadonlySet<string> = new Set([taintKeys.uninitialized, taintKeys.criticalComponentsNotReady]);

/** The taint that keeps pods off a node until it is initialized, and its machine Pending: a rollout that counted such a node would delete one in service. */
export const startupTaintOf = (node: Node | undefined): Taint | undefined =>
  node?.spec?.taints?.find(({ key, effect }) => startupTaintKeys.has(key) && effect === taintEffects.noSchedule);
