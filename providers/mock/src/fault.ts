import { type Random, isMachineErrorCode } from "@millwright/core";
import * as z from "zod";
import { CloudError, type CloudErrorCode } from "./cloud-error.ts";
import type { CloudOperation } from "./cloud-operation.ts";

/** Asks the cloud to fail. */
export interface FaultRule {
  /** Which calls; `*` means all. */
  readonly operation: CloudOperation | "*";
  /** What to fail with; without it the fault only delays. */
  readonly code?: CloudErrorCode | undefined;
  /** Goes with the code; a sentence that names the fault by default. */
  readonly message?: string | undefined;
  /** How many calls it hits, then it is gone; 1 by default. */
  readonly times?: number | undefined;
  /** How likely a call is hit, from 0 to 1; 1 by default. */
  readonly probability?: number | undefined;
  /** Do what was asked and fail then: the caller does not learn that it worked, as with a lost reply. False by default. */
  readonly afterAcceptance?: boolean | undefined;
  /** How much longer the call takes, in milliseconds; 0 by default. */
  readonly delayMs?: number | undefined;
  /** The delay that the rejection asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Only calls about VMs whose name, id or provider id contains this text. */
  readonly match?: string | undefined;
}

/** A rule with its id and what is left of it. */
export interface Fault extends FaultRule {
  readonly id: string;
  /** How many calls it will still hit. */
  readonly remaining: number;
}

/** Schema of a rule from outside. */
export const faultRuleSchema = z.strictObject({
  operation: z.enum(["create", "get", "list", "delete", "tag", "power", "userData", "changes", "*"]),
  code: z
    .custom<CloudErrorCode>(
      (value) => isMachineErrorCode(value) && value !== "OK",
      "must be one of the error codes, but not OK",
    )
    .optional(),
  message: z.string().max(4096).optional(),
  times: z.int().positive().optional(),
  probability: z.number().min(0).max(1).optional(),
  afterAcceptance: z.boolean().optional(),
  delayMs: z.number().min(0).optional(),
  retryAfterMs: z.number().min(0).optional(),
  match: z.string().optional(),
});

/** Schema of a fault on the wire. */
export const faultSchema = z.object({ ...faultRuleSchema.shape, id: z.string(), remaining: z.number() });

/** What a fault does to one call. */
export interface FaultEffect {
  readonly delayMs: number;
  readonly before?: CloudError;
  readonly after?: CloudError;
}

/** The faults of a cloud. */
export interface FaultSet {
  add(rule: FaultRule): Fault;
  list(): readonly Fault[];
  clear(): void;
  /** Finds out what the next call meets, and uses up what it meets: of the faults that fit, the oldest. */
  strike(operation: CloudOperation, subjects: readonly string[]): FaultEffect;
}

/** An empty set of faults. */
export function createFaultSet(random: Random): FaultSet {
  const faults = new Map<string, Fault>();
  let added = 0;
  return {
    add: (rule) => {
      const parsed = faultRuleSchema.safeParse(rule);
      if (!parsed.success) throw new CloudError("InvalidArgument", `fault: ${z.prettifyError(parsed.error)}`);
      added++;
      const fault: Fault = { ...rule, id: `fault-${added}`, remaining: rule.times ?? 1 };
      faults.set(fault.id, fault);
      return fault;
    },
    list: () => [...faults.values()],
    clear: () => faults.clear(),
    strike: (operation, subjects) => {
      for (const fault of faults.values()) {
        const { match, probability = 1 } = fault;
        if (fault.operation !== "*" && fault.operation !== operation) continue;
        if (match !== undefined && !subjects.some((subject) => subject.includes(match))) continue;
        if (probability < 1 && random.next() >= probability) continue;
        if (fault.remaining <= 1) faults.delete(fault.id);
        else faults.set(fault.id, { ...fault, remaining: fault.remaining - 1 });
        return effectOf(fault, operation);
      }
      return { delayMs: 0 };
    },
  };
}

function effectOf(fault: Fault, operation: CloudOperation): FaultEffect {
  const delayMs = fault.delayMs ?? 0;
  if (fault.code === undefined) return { delayMs };
  const message = fault.message ?? `${operation} failed because of fault ${fault.id}`;
  const error = new CloudError(
    fault.code,
    message,
    fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs },
  );
  return fault.afterAcceptance === true ? { delayMs, after: error } : { delayMs, before: error };
}
