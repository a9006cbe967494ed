import type { ServerResponse } from "node:http";
import type { Clock } from "@millwright/base";
import { StatusError } from "../errors/status-error.ts";
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
 * Applies the effects of faults to a request. Resolves with "done" when the request must not be served (its connection is reset
 * or stays silent), and with "serve without objects" when it must be served as if there were none; throws the Status of a fault.
 */
export async function applyRequestFaults(
  effects: readonly RequestEffect[],
  response: ServerResponse,
  clock: Clock,
  signal: AbortSignal,
): Promise<"serve" | "serve without objects" | "done"> {
  let isEmpty = false;
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
          return "done";
        }
        break;
      case "partition":
        resetConnection(response);
        return "done";
      case "empty-list":
        isEmpty = true;
        break;
      case "silence":
        await untilClosed(response, signal);
        return "done";
    }
  }
  return isEmpty ? "serve without objects" : "serve";
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
