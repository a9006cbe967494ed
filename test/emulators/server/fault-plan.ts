import type { Random } from "@millwright/core";
import type { EmulatorReply, Refusal, RequestSubject } from "./emulator.ts";

/** How a request that meets a fault ends. */
export type FaultEnd =
  /** The cloud refuses, in the form of its protocol. */
  | { readonly kind: "refuse"; readonly refusal: Refusal }
  /** Somebody in between answers: a proxy, a load balancer, nonsense. */
  | { readonly kind: "reply"; readonly reply: EmulatorReply }
  /** The connection is reset without an answer. */
  | { readonly kind: "reset" }
  /** No answer ever comes. */
  | { readonly kind: "hang" }
  /** Half of the true answer, and the connection is closed. The request has its effect. */
  | { readonly kind: "truncate" }
  /** Half of the true answer, and then nothing more. The request has its effect. */
  | { readonly kind: "stall" };

/** The cloud refuses with a code of its own; what else it says is its default for the code. */
export const refuse = (code: string, more: Omit<Partial<Refusal>, "code"> = {}): FaultEnd => ({
  kind: "refuse",
  refusal: { code, ...more },
});

/** A fault on demand. */
export interface FaultRule {
  /** Operation in the cloud's own words; `*` meets all. */
  readonly operation: string;
  /** Only requests that mention this, in a name or id. */
  readonly match?: string;
  /** Requests that fit and pass unharmed before the first one is met. Default 0. */
  readonly skip?: number;
  /** How many requests are met before the fault is gone. Default 1. */
  readonly times?: number;
  /** How likely a request that fits is met. Default 1. */
  readonly probability?: number;
  /** How much longer the request takes. Default 0. */
  readonly delayMs?: number;
  /** How it ends; absent: as without the fault, after the delay. */
  readonly end?: FaultEnd;
  /** Whether the cloud does what was asked first, so that only the answer is lost or false. Default false. */
  readonly afterAcceptance?: boolean;
}

/** The faults of one server. One request meets one fault, the oldest that fits. */
export interface FaultPlan {
  add(rule: FaultRule): void;
  clear(): void;
  /** How often any fault has met a request. */
  readonly strikes: number;
  /** The fault that this request meets; counts it. */
  strike(subject: RequestSubject): FaultRule | undefined;
}

interface Standing {
  readonly rule: FaultRule;
  skip: number;
  times: number;
}

const fits = ({ operation, match }: FaultRule, subject: RequestSubject): boolean =>
  (operation === "*" || operation === subject.operation) &&
  (match === undefined || subject.subjects.some((text) => text.includes(match)));

/** Creates an empty plan. */
export function createFaultPlan(random: Random): FaultPlan {
  let standing: Standing[] = [];
  let strikes = 0;
  return {
    add: (rule) => void standing.push({ rule, skip: rule.skip ?? 0, times: rule.times ?? 1 }),
    clear: () => {
      standing = [];
    },
    get strikes() {
      return strikes;
    },
    strike(subject) {
      for (const fault of standing) {
        if (!fits(fault.rule, subject)) continue;
        if (fault.skip > 0) {
          fault.skip--;
          continue;
        }
        if (random.next() >= (fault.rule.probability ?? 1)) continue;
        strikes++;
        fault.times--;
        if (fault.times <= 0) standing = standing.filter((other) => other !== fault);
        return fault.rule;
      }
      return undefined;
    },
  };
}
