import type { EmulatorRequest } from "../server/index.ts";
import { ArmRefusal } from "./refusal.ts";
import { keyOf, type ResourcePath } from "./resource-path.ts";
import type { ArmWorld } from "./world.ts";

/**
 * Rejects a request without an api-version, or with one that this cloud does not support.
 *
 * ARM's messages depend on what it knows when it routes the request: with the location of the resource (in the body, or of a resource that exists) it is `NoRegisteredProviderFound`, otherwise
 * `InvalidResourceType` with status 404 (Azure/azure-sdk-for-js#9297, Azure/azure-powershell#12061).
 */
export function checkApiVersion(world: ArmWorld, request: EmulatorRequest, { provider, segments }: ResourcePath): void {
  const version = request.url.searchParams.get("api-version");
  if (version === null) {
    throw new ArmRefusal("MissingApiVersionParameter", "The api-version query parameter is required for all requests.");
  }
  const [type = ""] = segments;
  const supported = versionsOf(world, `${provider}/${type}`);
  if (supported === undefined || supported.includes(version)) return;
  if (request.method === "PUT" || isKnown(world, request.url.pathname)) {
    throw new ArmRefusal(
      "NoRegisteredProviderFound",
      `No registered resource provider found for location '${world.location}' and API version '${version}' for type '${type}'. The supported api-versions are '${supported.join(", ")}'. The supported locations are '${world.location}'.`,
    );
  }
  throw new ArmRefusal(
    "InvalidResourceType",
    `The resource type '${type}' could not be found in the namespace '${provider}' for api version '${version}'. The supported api-versions are '${supported.join(",")}'.`,
  );
}

const versionsOf = ({ options }: ArmWorld, type: string): readonly string[] | undefined =>
  Object.entries(options.apiVersions ?? {}).find(([name]) => keyOf(name) === keyOf(type))?.[1];

const isKnown = ({ vms, nics, disks }: ArmWorld, pathname: string): boolean => {
  const key = keyOf(decodeURIComponent(pathname));
  return vms.has(key) || nics.has(key) || disks.has(key);
};
