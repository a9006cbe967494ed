import type { HttpClient, Pipeline } from "@azure/core-rest-pipeline";
import { armErrorIn, parseJson } from "./arm-error.ts";
import { ArmFailure } from "./arm-failure.ts";
import { requestIdsIn } from "./request-ids.ts";

/** Types that only checks of classes read, and that no SDK is loaded for, with the api-version of the request: those that all clouds of Azure have had since 2024. */
export const readVersions = {
  "Microsoft.Authorization/permissions": "2022-04-01",
  "Microsoft.Compute/galleries": "2022-03-03",
  "Microsoft.Compute/images": "2023-07-01",
  "Microsoft.Compute/locations/usages": "2023-07-01",
  "Microsoft.Network/virtualNetworks": "2023-05-01",
} as const;

/** One of the types in {@link readVersions}. */
export type ReadableType = keyof typeof readVersions;

/** Reads something of ARM by its address, as plain JSON. */
export type ResourceReader = (url: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Makes a reader that sends requests as a client of the SDKs does: with its token, its repetitions and its limits.
 *
 * @param createRequest `createPipelineRequest` of the SDK
 */
export const createResourceReader =
  (
    createRequest: typeof import("@azure/core-rest-pipeline").createPipelineRequest,
    pipeline: Pipeline,
    httpClient: HttpClient,
  ): ResourceReader =>
  async (url, abortSignal) => {
    const response = await pipeline.sendRequest(httpClient, createRequest({ url, abortSignal }));
    const { status, bodyAsText, headers } = response;
    if (status === 200) return parseJson(bodyAsText ?? "");
    throw new ArmFailure({ ...armErrorIn(bodyAsText), statusCode: status, requestIds: requestIdsIn(headers) });
  };
