import type { Random } from "@millwright/base";
import type { EmulatorReply, Refusal, RequestSubject } from "./emulator.ts";

/** The effect of a fault on a request. */
export type FaultEnd =
  /** An error in the format of the cloud. */
  | { readonly kind: "refuse"; readonly refusal: Refusal }
  /** A response that is not the cloud's: of a proxy, a load balancer, or garbage. */
  | { readonly kind: "reply"; readonly reply: EmulatorReply }
  /** The connection is reset without a response. */
  | { readonly kind: "reset" }
  /** There is no response. */
  | { readonly kind: "hang" }
  /** Half of the response, and the connection is closed. The request has its effect. */
  | { readonly kind: "truncate" }
  /** Half of the response, and the connection stays open. The request has its effect. */
  | { readonly kind: "stall" };

/** An error with the cloud's code, and its defaults for the code. */
export const refuse = (code: string, more: Omit<Partial<Refusal>, "code"> = {}): FaultEnd => ({
  kind: "refuse",
  refusal: { code, ...more },
});

/** An injected fault. */
export interface FaultRule {
  /** The cloud's name of the operation; `*` matches all. */
  readonly operation: string;
  /** Only requests with this text in a name or ID. */
  readonly match?: string;
  /** Number of matching requests without the fault at first. Default 0. */
  readonly skip?: number;
  /** Number of requests with the fault. Default 1. */
  readonly times?: number;
  /** Probability for a matching request. Default 1. */
  readonly probability?: number;
  /** Additional delay of the request. Default 0. */
  readonly delayMs?: number;
  /** Its effect. Absent: only the delay. */
  readonly end?: FaultEnd;
  /** Whether the request has its effect first, so that only the response is lost or wrong. Default false. */
  readonly afterAcceptance?: boolean;
}

/** The faults of one server. At most one fault applies to a request: the oldest that matches. */
export interface FaultPlan {
  add(rule: FaultRule): void;
  clear(): void;
  /** The number of requests with a fault. */
  readonly strikes: number;
  /** The fault of this request; counts it. */
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
