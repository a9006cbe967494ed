import type { ResourceType } from "@millwright/base";
import { describeType } from "../objects/resource-type.ts";

/** What a caller asked of the fake. */
export type FakeVerb = "get" | "list" | "watch" | "create" | "patch" | "replace" | "delete" | "request";

/** One call, in the order in which they came. */
export interface FakeCall {
  readonly verb: FakeVerb;
  /** `machines.machine.sapcloud.io`, `nodes`; the path for `request`. */
  readonly resource: string;
  /** `namespace/name`; the namespace for lists and watches. */
  readonly key: string;
  readonly subresource?: string | undefined;
  /** The object or the patch that was sent. */
  readonly body?: unknown;
}

/** A failure to be injected. */
export interface FakeFault {
  /** Which calls it hits; what is left out matches all. */
  readonly verb?: FakeVerb;
  readonly type?: ResourceType;
  readonly key?: string;
  /** `""`: none. */
  readonly subresource?: string;
  /** Thrown at the caller. */
  readonly error: Error;
  /** How many calls it hits. Default 1. */
  readonly times?: number;
  /** `before`: nothing happened. `after`: the call was carried out and its answer lost. Default `before`. */
  readonly phase?: "before" | "after";
}

/** The calls of a fake, and what is to become of them. */
export interface FakeCalls {
  /** Every call so far. */
  readonly calls: FakeCall[];
  /** Takes note of a call and carries it out, or lets it fail as was injected, before or after that. */
  readonly perform: <R>(call: FakeCall, signal: AbortSignal | undefined, act: () => R) => Promise<R>;
  readonly inject: (fault: FakeFault) => void;
}

/** Creates a log without calls and faults. */
export function createFakeCalls(): FakeCalls {
  const calls: FakeCall[] = [];
  const faults: { readonly fault: FakeFault; left: number }[] = [];

  function takeFault(call: FakeCall, phase: "before" | "after"): Error | undefined {
    const hit = faults.find(
      ({ fault, left }) =>
        left > 0 &&
        (fault.phase ?? "before") === phase &&
        (fault.verb === undefined || fault.verb === call.verb) &&
        (fault.type === undefined || describeType(fault.type) === call.resource) &&
        (fault.key === undefined || fault.key === call.key) &&
        (fault.subresource === undefined || fault.subresource === (call.subresource ?? "")),
    );
    if (hit === undefined) return undefined;
    hit.left--;
    return hit.fault.error;
  }

  async function perform<R>(call: FakeCall, signal: AbortSignal | undefined, act: () => R): Promise<R> {
    calls.push(call);
    // An answer never comes within the same turn, so that a forgotten await shows.
    await Promise.resolve();
    signal?.throwIfAborted();
    const before = takeFault(call, "before");
    if (before !== undefined) throw before;
    const result = act();
    const after = takeFault(call, "after");
    if (after !== undefined) throw after;
    return result;
  }

  return { calls, perform, inject: (fault) => void faults.push({ fault, left: fault.times ?? 1 }) };
}
