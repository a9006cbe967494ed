import type { PipelinePolicy } from "@azure/core-rest-pipeline";
import { type ApiVersions, type ResourceType, resourceTypes } from "../spec/api-versions.ts";
import { ArmFailure } from "./arm-failure.ts";
import { armErrorIn } from "./arm-error.ts";
import { requestIdsIn } from "./request-ids.ts";

const typesByPath = new Map(resourceTypes.map((type) => [type.toLowerCase(), type]));

/** The resource type that a request is for; undefined for operations and everything else that the driver has no version for. */
export function resourceTypeOf(url: string): ResourceType | undefined {
  const [, provider = "", rest = ""] = /.*\/providers\/([^/]+)\/(.+)$/i.exec(new URL(url).pathname) ?? [];
  // Types and names alternate below a provider.
  const types = rest.split("/").filter((_, index) => index % 2 === 0);
  const pathOf = (depth: number): string => [provider, ...types.slice(0, depth)].join("/").toLowerCase();
  return typesByPath.get(pathOf(2)) ?? typesByPath.get(pathOf(1));
}

/** Codes by which ARM rejects an api-version. The first comes with status 404, as if the resource did not exist. */
const versionCodes: ReadonlySet<string> = new Set([
  "InvalidResourceType",
  "NoRegisteredProviderFound",
  "InvalidApiVersionParameter",
  "UnsupportedApiVersion",
]);

/** `The supported api-versions are '2023-03-01, 2023-07-01'.` in the two ways in which ARM writes it. */
const supportedVersions = (message: string): readonly string[] => {
  const [, list = ""] = /The supported (?:api-)?versions are '([^']*)'/i.exec(message) ?? [];
  return list.split(",").flatMap((version) => (version.trim() === "" ? [] : [version.trim()]));
};

/** The newest stable version that is no newer than the requested one, or the newest there is. */
function bestOf(supported: readonly string[], requested: string): string | undefined {
  const stable = supported.filter((version) => /^\d{4}-\d{2}-\d{2}$/.test(version)).toSorted();
  return stable.findLast((version) => version <= requested) ?? stable.at(-1);
}

/**
 * Sends the given api-versions: the SDKs for JavaScript fix one for each operation and ignore their own option. Where the cloud does not have a version, the failure names the setting that changes
 * it. Belongs outside of the SDK's repetitions.
 */
export const apiVersionPolicy = (versions: ApiVersions): PipelinePolicy => ({
  name: "millwrightApiVersion",
  async sendRequest(request, next) {
    const type = resourceTypeOf(request.url);
    if (type === undefined) return next(request);
    const version = versions[type];
    request.url = request.url.replace(/([?&]api-version=)[^&]*/i, `$1${version}`);
    const response = await next(request);
    if (response.status !== 400 && response.status !== 404) return response;
    const { code, message } = armErrorIn(response.bodyAsText);
    if (!versionCodes.has(code)) return response;
    const supported = supportedVersions(message);
    // The same code is for a location that does not exist.
    if (supported.includes(version)) return response;
    const best = bestOf(supported, version);
    const example = best === undefined ? "a version that it has" : `"${best}"`;
    throw new ArmFailure({
      code,
      message: `this cloud does not have api-version ${version} of ${type}; set providerSpec.cloudConfiguration.apiVersions["${type}"] of the class, or option "apiVersions" of the driver, to ${example}`,
      statusCode: response.status,
      requestIds: requestIdsIn(response.headers),
    });
  },
});
