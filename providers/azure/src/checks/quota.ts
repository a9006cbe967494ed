import { fieldOf } from "@millwright/core/driver-kit";
import type { AzureSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import { locationOf } from "./size.ts";
import type { Finding } from "./finding.ts";

/** What of a quota is used. */
interface Usage {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
}

function readUsages(items: readonly unknown[]): readonly Usage[] {
  return items.flatMap((each) => {
    const name = fieldOf(fieldOf(each, "name"), "value");
    const used = fieldOf(each, "currentValue");
    const limit = fieldOf(each, "limit");
    return typeof name === "string" && typeof used === "number" && typeof limit === "number"
      ? [{ name, used, limit }]
      : [];
  });
}

/**
 * Whether the quotas of the location have room for one more VM of the class: cores of the region and of the size's family, or those of spot VMs. Source: Azure Compute REST API, "Usage - List".
 */
export async function checkQuota(spec: AzureSpec, { session, context }: MethodCall): Promise<Finding> {
  const { api, subscriptionId } = session;
  const location = locationOf(spec);
  const size = await session.size(location, spec.properties.hardwareProfile.vmSize, context);
  const cores = Number(size?.capabilities?.find(({ name }) => name?.toLowerCase() === "vcpus")?.value ?? "");
  if (!(cores > 0)) return { status: "skipped", message: "The number of cores of the size is unknown." };
  const path = `/subscriptions/${subscriptionId}/providers/Microsoft.Compute/locations/${location}/usages`;
  const usages = readUsages(
    (await api.listResources("Microsoft.Compute/locations/usages", path, context.signal)) ?? [],
  );
  const isSpot = spec.properties.priority === "Spot";
  const names = isSpot
    ? ["lowprioritycores"]
    : ["cores", ...(size?.family === undefined ? [] : [size.family.toLowerCase()])];
  const own = usages.filter(({ name }) => names.includes(name.toLowerCase()));
  const text = (shown: readonly Usage[]): string =>
    shown.map(({ name, used, limit }) => `${name} ${used} of ${limit} (a VM needs ${cores})`).join("; ");
  const full = own.filter(({ used, limit }) => used + cores > limit);
  if (full.length > 0)
    return {
      status: "failed",
      message: `Quota for a VM is exhausted in ${location}: ${text(full)}.`,
      remedy: "Request more quota for the subscription, or delete unused resources.",
    };
  if (own.length === 0) return { status: "skipped", message: `Azure lists no quota of ${location} for this size.` };
  return { status: "ok", message: `Used in ${location}: ${text(own)}.` };
}
