import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import * as z from "zod";
import type { Operation } from "./operations.ts";
import { ArmRefusal } from "./refusal.ts";
import type { ResourcePath } from "./resource-path.ts";
import type { ArmWorld } from "./world.ts";

/** One request, with the parts that all requests have. */
export interface ArmCall {
  readonly world: ArmWorld;
  readonly request: EmulatorRequest;
  readonly path: ResourcePath;
  /** Scheme and host of the server, as the client sent them. */
  readonly origin: string;
}

/** An action: reads the request, rejects or executes it, and responds. */
export type ArmAction = (call: ArmCall) => EmulatorReply;

/** A response with a body. */
export const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): EmulatorReply => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body: JSON.stringify(body),
});

/** A response without a body. */
export const empty = (status: number, headers: Readonly<Record<string, string>> = {}): EmulatorReply => ({
  status,
  headers,
  body: "",
});

/**
 * Reads the body of a request.
 *
 * @throws ArmRefusal for one that is not JSON, lacks a required field, or has a field that no action reads
 */
export function readBody<Body>({ request }: ArmCall, schema: z.ZodType<Body>): Body {
  let parsed: unknown;
  try {
    parsed = JSON.parse(request.body);
  } catch {
    throw new ArmRefusal("InvalidRequestContent", "The request content was invalid and could not be deserialized.");
  }
  const read = schema.safeParse(parsed);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new ArmRefusal(
    "InvalidParameter",
    `The value of parameter ${issue?.path.join(".") ?? ""} is invalid: ${issue?.message ?? ""}`,
  );
}

/** Starts an asynchronous operation of a resource. */
export const startOperation = (
  { world, path }: ArmCall,
  resourceId: string,
  tookMs: number | undefined,
  end: Operation["end"],
): Operation =>
  world.operations.start({
    provider: path.provider,
    subscription: path.subscription,
    location: world.location,
    collection: path.segments[0]?.toLowerCase() === "disks" ? "DiskOperations" : "operations",
    resourceId,
    tookMs: tookMs ?? 0,
    end,
  });

/** Headers with the URLs of an operation. */
export function operationHeaders(
  { world, request, origin }: ArmCall,
  operation: Operation,
  ways: { readonly async?: boolean; readonly location?: boolean },
): Readonly<Record<string, string>> {
  const query = `api-version=${request.url.searchParams.get("api-version") ?? ""}&p=${operation.id.slice(0, 8)}`;
  const url = `${origin}${operation.path}?${query}`;
  const { pollAfterS } = world.options;
  // Network has another path for what is a parameter in compute.
  const resultUrl = operation.path.toLowerCase().includes("/microsoft.network/")
    ? url.replace("/operations/", "/operationResults/")
    : `${url}&monitor=true`;
  return {
    ...(ways.async === true ? { "azure-asyncoperation": url } : {}),
    ...(ways.location === true ? { location: resultUrl } : {}),
    ...(pollAfterS === undefined ? {} : { "retry-after": String(pollAfterS) }),
  };
}

/** One page of a list, and the address of the next. */
export function page(call: ArmCall, all: readonly unknown[]): EmulatorReply {
  const { world, request, origin } = call;
  const { pageSize = 100 } = world.options;
  const from = Number(request.url.searchParams.get("$skiptoken") ?? "0");
  const next = new URL(request.url.pathname + request.url.search, origin);
  next.searchParams.set("$skiptoken", String(from + pageSize));
  return json(200, {
    value: all.slice(from, from + pageSize),
    ...(from + pageSize < all.length ? { nextLink: next.href } : {}),
  });
}
