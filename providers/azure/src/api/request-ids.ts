import { fieldOf } from "@millwright/core/driver-kit";

/** By what Azure finds a request in its own records; empty where it gave nothing. MCM's driver logs them too. */
export type RequestIds = Readonly<Record<string, string>>;

/** The headers that have them, and what they are called in a log. */
const headerNames = { requestId: "x-ms-request-id", correlationId: "x-ms-correlation-request-id" } as const;

/** Reads a header without trusting the shape of what has it. */
export function headerIn(headers: unknown, name: string): string | undefined {
  const get = fieldOf(headers, "get");
  const value: unknown = typeof get === "function" ? Reflect.apply(get, headers, [name]) : fieldOf(headers, name);
  return typeof value === "string" ? value : undefined;
}

/** The ids in the headers of an answer. */
export const requestIdsIn = (headers: unknown): RequestIds =>
  Object.fromEntries(
    Object.entries(headerNames).flatMap(([key, name]) => {
      const value = headerIn(headers, name);
      return value === undefined ? [] : [[key, value.slice(0, 100)]];
    }),
  );

/** An error that came of an answer of Azure. */
interface AnsweredError extends Error {
  readonly requestIds: RequestIds;
}

const isAnswered = (error: unknown): error is AnsweredError =>
  error instanceof Error && typeof fieldOf(error, "requestIds") === "object";

/** The ids of the request that an error came of: its own, or those of what caused it. Empty when no answer of Azure did. */
export function requestIdsOf(error: unknown): RequestIds {
  // Causes are few; a circle of them is not followed.
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (isAnswered(at)) return at.requestIds;
  }
  return {};
}
