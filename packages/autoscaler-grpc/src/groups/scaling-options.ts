import { parseGoDuration } from "@millwright/base";
import type { MachineDeployment } from "@millwright/core/machine-api";
import type { WireDuration, WireOldDuration, WireOptions } from "../wire/messages.ts";

const PREFIX = "autoscaler.gardener.cloud/";

const durationOf = (text: string): number | undefined => {
  const ms = parseGoDuration(text);
  return ms === undefined || ms < 0 ? undefined : ms;
};

function shareOf(text: string): number | undefined {
  const share = Number(text);
  return text.trim() !== "" && share >= 0 && share <= 1 ? share : undefined;
}

/** Milliseconds of a duration, by whichever field has it. */
function msOf(present: WireDuration | null, old: WireOldDuration | null = null): number | undefined {
  if (present !== null) return present.seconds * 1_000 + present.nanos / 1_000_000;
  return old === null ? undefined : old.duration / 1_000_000;
}

const toPresent = (ms: number | undefined): WireDuration | null =>
  ms === undefined ? null : { seconds: Math.floor(ms / 1_000), nanos: Math.round((ms % 1_000) * 1_000_000) };

const toOld = (ms: number | undefined): WireOldDuration | null =>
  ms === undefined ? null : { duration: Math.round(ms * 1_000_000) };

/**
 * The options of a group: the defaults of the autoscaler, changed by the annotations that Gardener writes on deployments. One that cannot be read changes nothing.
 *
 * @returns null if no annotation changes one. Autoscalers from 1.35 on take each answer for one with a start-up time of 0, which the protocol has no field for: a node that joins counts as unready
 *   then, and the group is scaled again (kubernetes/autoscaler#10245)
 */
export function scalingOptions(
  { metadata: { annotations = {} } }: MachineDeployment,
  defaults: WireOptions | null,
): WireOptions | null {
  const read = <T>(name: string, parse: (text: string) => T | undefined): T | undefined =>
    parse(annotations[`${PREFIX}${name}`] ?? "");
  const share = read("scale-down-utilization-threshold", shareOf);
  const gpuShare = read("scale-down-gpu-utilization-threshold", shareOf);
  const unneeded = read("scale-down-unneeded-time", durationOf);
  const unready = read("scale-down-unready-time", durationOf);
  const provision = read("max-node-provision-time", durationOf);
  if (defaults === null) return null;
  if ([share, gpuShare, unneeded, unready, provision].every((each) => each === undefined)) return null;
  const unneededMs = unneeded ?? msOf(defaults.scaleDownUnneededDuration, defaults.scaleDownUnneededTime);
  const unreadyMs = unready ?? msOf(defaults.scaleDownUnreadyDuration, defaults.scaleDownUnreadyTime);
  const provisionMs = provision ?? msOf(defaults.MaxNodeProvisionDuration, defaults.MaxNodeProvisionTime);
  return {
    ...defaults,
    scaleDownUtilizationThreshold: share ?? defaults.scaleDownUtilizationThreshold,
    scaleDownGpuUtilizationThreshold: gpuShare ?? defaults.scaleDownGpuUtilizationThreshold,
    scaleDownUnneededDuration: toPresent(unneededMs),
    scaleDownUnneededTime: toOld(unneededMs),
    scaleDownUnreadyDuration: toPresent(unreadyMs),
    scaleDownUnreadyTime: toOld(unreadyMs),
    MaxNodeProvisionDuration: toPresent(provisionMs),
    MaxNodeProvisionTime: toOld(provisionMs),
  };
}
