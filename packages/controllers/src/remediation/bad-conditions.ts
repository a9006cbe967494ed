import type { Machine } from "@millwright/core";
import type { Node } from "../model/node-objects.ts";
import { unhealthyConditions, unhealthySince } from "../model/node-health.ts";
import type { MachineSettings } from "../model/machine-settings.ts";

type Listed = Pick<MachineSettings, "nodeConditions">;

/** Conditions that must be False: those that the machine lists, else those of the settings (MCM, `pkg/util/provider/machinecontroller/machine_util.go` isHealthy). */
const listedFor = ({ spec }: Machine, { nodeConditions }: Listed): readonly string[] =>
  spec.nodeConditions?.split(",") ?? nodeConditions;

/** What makes the node of a machine unhealthy. */
export const badConditionsOf = (machine: Machine, { status }: Node, settings: Listed): readonly string[] =>
  unhealthyConditions(status?.conditions ?? [], listedFor(machine, settings));

/** Since when the node of a machine has been unhealthy, by its own word; wall clock, milliseconds. */
export const unhealthySinceOf = (machine: Machine, { status }: Node, settings: Listed): number | undefined =>
  unhealthySince(status?.conditions ?? [], listedFor(machine, settings));
