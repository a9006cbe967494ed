import { longestLabelValue } from "./label-syntax.ts";

/**
 * Name of a new machine of a set: `<set>-<suffix>`, cut before the suffix so that it has at most 63 characters, as the API
 * server does with generateName. The name becomes a label of the Node, and labels end there.
 * Source: MCM, `pkg/controller/controller_utils.go` GetMachineFromTemplate.
 */
export function machineNameIn(setName: string, suffix: string): string {
  return `${setName}-`.slice(0, Math.max(0, longestLabelValue - suffix.length)) + suffix;
}
