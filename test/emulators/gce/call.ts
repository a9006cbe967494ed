import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { GceRefusal } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/** A request to an action. */
export interface GceCall {
  readonly world: GceWorld;
  readonly request: EmulatorRequest;
  readonly project: string;
  readonly zone: string;
  /** The last part of the path: an instance, an operation, a machine type; empty for collections. */
  readonly name: string;
  /** The caller. */
  readonly user: string;
}

/** An action: rejects or executes the request, and returns the response. */
export type GceAction = (call: GceCall) => EmulatorReply | Promise<EmulatorReply>;

/**
 * Rejects unknown parameters, so that no test passes with an ignored parameter.
 *
 * @throws GceRefusal
 */
export function knownParameters({ request }: GceCall, ...known: readonly string[]): URLSearchParams {
  for (const key of request.url.searchParams.keys()) {
    if (known.includes(key)) continue;
    throw new GceRefusal(
      "badRequest",
      `Invalid JSON payload received. Unknown name "${key}": Cannot bind query parameter.`,
    );
  }
  return request.url.searchParams;
}
