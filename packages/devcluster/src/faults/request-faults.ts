import type { ServerResponse } from "node:http";
import type { Clock } from "@millwright/base";
import { StatusError } from "../errors/status-error.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import { laggingStore, withoutObjects } from "../storage/altered-stores.ts";
import type { RequestEffect } from "./fault.ts";
import { loseResponse, resetConnection } from "./lost-responses.ts";

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/**
 * Applies the effects of faults to a request. Resolves with the store that it is served from, or with undefined when it must not be served (its connection
 * is reset or stays silent); throws the Status of a fault.
 */
export async function applyRequestFaults(
  effects: readonly RequestEffect[],
  store: ObjectStore,
  response: ServerResponse,
  clock: Clock,
  signal: AbortSignal,
): Promise<ObjectStore | undefined> {
  let served = store;
  for (const effect of effects) {
    switch (effect.kind) {
      case "latency":
        await clock.sleep(effect.ms, signal);
        break;
      case "status":
        throw errorOfFault(effect);
      case "reset":
        if (effect.when === "after") loseResponse(response);
        else {
          resetConnection(response);
          return undefined;
        }
        break;
      case "partition":
        resetConnection(response);
        return undefined;
      case "empty-list":
        served = withoutObjects(store);
        break;
      case "stale-list":
        served = laggingStore(store, effect.versions);
        break;
      case "silence":
        await untilClosed(response, signal);
        return undefined;
    }
  }
  return served;
}

/** The Status of a `status` fault. */
export function errorOfFault(effect: Extract<RequestEffect, { kind: "status" }>): StatusError {
  const { code, reason = reasons[code] ?? "", message = `fault on demand: ${code}` } = effect;
  const seconds = effect.retryAfterSeconds ?? (code === 429 ? 1 : undefined);
  return seconds === undefined
    ? new StatusError(code, reason, message)
    : new StatusError(code, reason, message, { retryAfterSeconds: seconds }, { "retry-after": String(seconds) });
}

/** The reason of a code. */
export function reasonOf(code: number): string {
  return reasons[code] ?? "";
}

function untilClosed(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
