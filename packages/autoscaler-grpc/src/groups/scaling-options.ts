import { type MachineDeployment, parseGoDuration } from "@millwright/core";
import type { WireDuration, WireOptions } from "../wire/messages.ts";

const PREFIX = "autoscaler.gardener.cloud/";

function durationOf(text: string): WireDuration | undefined {
  const parsed = parseGoDuration(text);
  if (parsed === undefined || parsed < 0) return undefined;
  return { seconds: Math.floor(parsed / 1_000), nanos: Math.floor((parsed % 1_000) * 1_000_000) };
}

function shareOf(text: string): number | undefined {
  const share = Number(text);
  return text.trim() !== "" && share >= 0 && share <= 1 ? share : undefined;
}

/**
 * The options of a group: the defaults of the autoscaler, changed by the annotations that Gardener writes on deployments. One that cannot be read changes nothing.
 */
export function scalingOptions(
  { metadata: { annotations = {} } }: MachineDeployment,
  defaults: WireOptions | null,
): WireOptions | null {
  if (defaults === null) return null;
  const read = <T>(name: string, parse: (text: string) => T | undefined, otherwise: T): T =>
    parse(annotations[`${PREFIX}${name}`] ?? "") ?? otherwise;
  return {
    ...defaults,
    scaleDownUtilizationThreshold: read(
      "scale-down-utilization-threshold",
      shareOf,
      defaults.scaleDownUtilizationThreshold,
    ),
    scaleDownGpuUtilizationThreshold: read(
      "scale-down-gpu-utilization-threshold",
      shareOf,
      defaults.scaleDownGpuUtilizationThreshold,
    ),
    scaleDownUnneededDuration: read<WireDuration | null>(
      "scale-down-unneeded-time",
      durationOf,
      defaults.scaleDownUnneededDuration,
    ),
    scaleDownUnreadyDuration: read<WireDuration | null>(
      "scale-down-unready-time",
      durationOf,
      defaults.scaleDownUnreadyDuration,
    ),
    MaxNodeProvisionDuration: read<WireDuration | null>(
      "max-node-provision-time",
      durationOf,
      defaults.MaxNodeProvisionDuration,
    ),
  };
}
