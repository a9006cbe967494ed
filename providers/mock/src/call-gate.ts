import type { Clock } from "@millwright/core";
import { type CloudErrorCode, isCloudError } from "./cloud-error.ts";
import type { CallOptions } from "./cloud.ts";
import type { CloudOperation } from "./cloud-operation.ts";
import type { FaultSet } from "./fault.ts";

/** One call in the record of a cloud. */
export interface CloudCall {
  readonly operation: CloudOperation;
  /** The VM's name, or its id and name, as far as the call named one. */
  readonly subjects: readonly string[];
  /** When it came. */
  readonly at: Date;
  /** How it ended; `aborted` when the caller went away, undefined while it runs. */
  readonly outcome: "OK" | CloudErrorCode | "aborted" | undefined;
}

/** What every call passes on its way in and out. */
export interface CallGate {
  /** Runs a call: latency, faults, record. `act` is synchronous, so calls that overlap never see a half-done change. */
  run<T>(
    operation: CloudOperation,
    subjects: readonly string[],
    call: CallOptions | undefined,
    act: () => T,
  ): Promise<T>;
  readonly calls: readonly CloudCall[];
  counts(): Readonly<Record<CloudOperation, number>>;
}

const keptCalls = 10_000;

/** Creates the gate of one cloud. */
export function createCallGate(options: {
  readonly clock: Clock;
  readonly faults: FaultSet;
  readonly latencyMs: number;
}): CallGate {
  const { clock, faults, latencyMs } = options;
  const calls: { -readonly [key in keyof CloudCall]: CloudCall[key] }[] = [];
  const counts: Record<CloudOperation, number> = {
    create: 0,
    get: 0,
    list: 0,
    delete: 0,
    tag: 0,
    power: 0,
    userData: 0,
    changes: 0,
  };

  return {
    calls,
    counts: () => ({ ...counts }),
    run: async (operation, subjects, call, act) => {
      counts[operation]++;
      const record: (typeof calls)[number] = { operation, subjects, at: clock.now(), outcome: undefined };
      calls.push(record);
      if (calls.length > keptCalls) calls.shift();
      const effect = faults.strike(operation, subjects);
      try {
        call?.signal?.throwIfAborted();
        const delayMs = latencyMs + effect.delayMs;
        if (delayMs > 0) await clock.sleep(delayMs, call?.signal);
        if (effect.before !== undefined) throw effect.before;
        const answer = act();
        if (effect.after !== undefined) throw effect.after;
        record.outcome = "OK";
        return answer;
      } catch (error) {
        record.outcome = isCloudError(error) ? error.code : "aborted";
        throw error;
      }
    },
  };
}
