import type { ResourceSku } from "@azure/arm-compute";
import type { AzureSpec } from "../spec/spec.ts";
import type { MethodCall } from "../vm/method-call.ts";
import type { Finding } from "./finding.ts";

/** The location of a class as lists of Azure spell it: classes may call it `West Europe`. */
export const locationOf = ({ location }: AzureSpec): string => location.replaceAll(" ", "").toLowerCase();

const isSame = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b;

/** Why a size cannot be had in a location, or in a zone of it; undefined when it can. */
function sizeProblemOf(size: ResourceSku | undefined, location: string, zone: number | undefined): string | undefined {
  if (size === undefined) return `is not offered in ${location}`;
  const restrictions = size.restrictions ?? [];
  const whole = restrictions.find(({ type }) => type === "Location");
  if (whole !== undefined) return `is restricted in ${location} (${whole.reasonCode ?? "no reason given"})`;
  if (zone === undefined) return undefined;
  const zones = size.locationInfo?.find((info) => isSame(info.location, location))?.zones ?? [];
  if (!zones.includes(String(zone))) return `is not offered in zone ${zone} of ${location}`;
  const zonal = restrictions.find(
    ({ type, restrictionInfo }) => type === "Zone" && restrictionInfo?.zones?.includes(String(zone)) === true,
  );
  return zonal === undefined
    ? undefined
    : `is restricted in zone ${zone} of ${location} (${zonal.reasonCode ?? "no reason given"})`;
}

/** Whether the size of the class is offered in its zone, and to its subscription. Where only a fallback is not, VMs can be created. */
export async function checkSize(spec: AzureSpec, { session, context }: MethodCall): Promise<Finding> {
  const { hardwareProfile, zone } = spec.properties;
  const location = locationOf(spec);
  const candidates = [
    { field: "properties.hardwareProfile.vmSize", vmSize: hardwareProfile.vmSize, zone },
    ...spec.fallbacks.map((fallback, index) => ({
      field: `fallbacks[${index}]`,
      vmSize: fallback.vmSize ?? hardwareProfile.vmSize,
      zone: fallback.zone ?? zone,
    })),
  ];
  const problems: string[] = [];
  let isOwnMissing = false;
  for (const [index, candidate] of candidates.entries()) {
    const size = await session.size(location, candidate.vmSize, context);
    const problem = sizeProblemOf(size, location, candidate.zone);
    if (problem === undefined) continue;
    isOwnMissing ||= index === 0;
    problems.push(`providerSpec.${candidate.field}: "${candidate.vmSize}" ${problem}`);
  }
  if (problems.length > 0) return { status: isOwnMissing ? "failed" : "warning", message: `${problems.join("; ")}.` };
  return { status: "ok", message: `"${hardwareProfile.vmSize}" is offered in ${location}.` };
}
