import type { EmulatorReply, EmulatorRequest } from "../server/index.ts";
import { GceRefusal } from "./refusal.ts";
import type { GceWorld } from "./world.ts";

/** What an action works with. */
export interface GceCall {
  readonly world: GceWorld;
  readonly request: EmulatorRequest;
  readonly project: string;
  readonly zone: string;
  /** The last part of the path: an instance, an operation, a machine type; empty for collections. */
  readonly name: string;
  /** Who asks. */
  readonly user: string;
}

/** An action: refuses or does it, and gives the answer. */
export type GceAction = (call: GceCall) => EmulatorReply | Promise<EmulatorReply>;

/**
 * Refuses parameters that the action does not know: no test passes with something that nobody looked at.
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
