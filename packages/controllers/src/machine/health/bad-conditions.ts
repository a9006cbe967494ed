import type { Machine } from "@millwright/core";
import type { Node } from "../../cluster/node-objects.ts";
import { unhealthyConditions } from "../node-health.ts";
import type { MachineSettings } from "../snapshot.ts";

/** What makes the node of a machine unhealthy, by the conditions that the machine lists, else by those of the settings (machine-controller.md, 2.7). */
export const badConditionsOf = (
  { spec }: Machine,
  { status }: Node,
  { nodeConditions }: Pick<MachineSettings, "nodeConditions">,
): readonly string[] =>
  unhealthyConditions(status?.conditions ?? [], spec.nodeConditions?.split(",") ?? nodeConditions);
