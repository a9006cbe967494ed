import { type ApiVersionOverrides, type ApiVersions, apiVersionsOf, resourceTypes } from "./api-versions.ts";
import { type CloudName, cloudNamed } from "./clouds.ts";
import type { AzureSpec } from "./spec.ts";

/** Which of Azure's clouds a session is for, and by which versions of its API it speaks. */
export interface Place {
  readonly cloud: CloudName;
  readonly apiVersions: ApiVersions;
}

/** The place of a class as text: classes with the same text share a session. */
export function placeOf({ cloudConfiguration }: Pick<AzureSpec, "cloudConfiguration">, ofDriver?: ApiVersionOverrides) {
  const versions = apiVersionsOf(cloudConfiguration?.apiVersions, ofDriver);
  return [cloudNamed(cloudConfiguration?.name ?? ""), ...resourceTypes.map((type) => versions[type])].join(" ");
}

/** Reads what {@link placeOf} wrote. */
export function readPlace(place: string): Place {
  const [cloud = "", ...versions] = place.split(" ");
  return {
    cloud: cloudNamed(cloud),
    apiVersions: apiVersionsOf(Object.fromEntries(resourceTypes.map((type, index) => [type, versions[index] ?? ""]))),
  };
}
