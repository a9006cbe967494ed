import { fieldOf } from "@millwright/core/driver-kit";
import { type GcpSpec, isSpot } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { machineTypeIn } from "./machine-type.ts";
import type { Finding } from "./finding.ts";

/** A quota of a region. */
interface Quota {
  readonly metric: string;
  readonly limit: number;
  readonly usage: number;
}

function quotasOf(region: unknown): readonly Quota[] {
  const quotas = fieldOf(region, "quotas");
  return (Array.isArray(quotas) ? quotas : []).flatMap((quota: unknown) => {
    const metric = fieldOf(quota, "metric");
    const limit = fieldOf(quota, "limit");
    const usage = fieldOf(quota, "usage");
    return typeof metric === "string" && typeof limit === "number" && typeof usage === "number"
      ? [{ metric, limit, usage }]
      : [];
  });
}

/**
 * The metrics that a VM counts in, with how much. Source: "Allocation quotas" of Compute Engine: CPUs of most families have a metric of their own (`N2_CPUS`), all others count in `CPUS`; spot VMs
 * count in `PREEMPTIBLE_CPUS` where a project has that quota.
 */
function needsOf(spec: GcpSpec, cpus: number, quotas: readonly Quota[]): readonly (readonly [string, number])[] {
  const has = (metric: string): boolean => quotas.some((quota) => quota.metric === metric && quota.limit > 0);
  const [family = ""] = spec.machineType.split("-");
  const own = `${family.toUpperCase()}_CPUS`;
  const listed = quotas.some(({ metric }) => metric === own);
  const external = spec.networkInterfaces.filter(({ disableExternalIP }) => !disableExternalIP).length;
  return [
    [isSpot(spec) && has("PREEMPTIBLE_CPUS") ? "PREEMPTIBLE_CPUS" : listed ? own : "CPUS", cpus],
    ...(external === 0 ? [] : [["IN_USE_ADDRESSES", external] as const]),
  ];
}

/** Whether the quotas of the region have room for one more VM of the class. */
export async function checkQuota(spec: GcpSpec, call: MethodCall): Promise<Finding> {
  const { session, context } = call;
  const { region, zone, machineType } = spec;
  const found = await session.api.getResource("region_get", `${session.project}/regions/${region}`, context.signal);
  if (found === undefined) return { status: "failed", message: `providerSpec.region: there is no region "${region}".` };
  const type = await machineTypeIn(zone, machineType, call);
  const cpus = type?.guestCpus;
  if (typeof cpus !== "number")
    return { status: "skipped", message: "The number of CPUs of the machine type is unknown." };
  const quotas = quotasOf(found);
  const rooms = needsOf(spec, cpus, quotas).flatMap(([metric, amount]) => {
    const quota = quotas.find((each) => each.metric === metric);
    return quota === undefined ? [] : [{ ...quota, amount }];
  });
  const full = rooms.filter(({ limit, usage, amount }) => usage + amount > limit);
  const text = (shown: typeof rooms): string =>
    shown.map(({ metric, limit, usage, amount }) => `${metric} ${usage} of ${limit} (a VM needs ${amount})`).join("; ");
  if (full.length > 0)
    return {
      status: "failed",
      message: `Quota for a VM is exhausted in ${region}: ${text(full)}.`,
      remedy: "Request more quota for the project, or delete unused resources.",
    };
  if (rooms.length === 0) return { status: "skipped", message: `Google lists no quota of ${region} for this type.` };
  return { status: "ok", message: `Used in ${region}: ${text(rooms)}.` };
}
