import type { MachineErrorCode } from "@millwright/core";
import { retryClassOf } from "@millwright/core/driver-host";
import { annotationKeys, eventReasons, type MachineClass, type NodeTemplate } from "@millwright/core/machine-api";
import type { Decision } from "../model/decision.ts";
import { capacityVersionOf, matchesMark, readMark } from "./capacity-mark.ts";

/** State of the lookup of a class's capacity. */
export type CapacityAnswer =
  | { readonly state: "notRequested" }
  | { readonly state: "inProgress" }
  | { readonly state: "known"; readonly nodeTemplate: NodeTemplate }
  | {
      readonly state: "failed";
      readonly code: MachineErrorCode;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
      /** Consecutive failures. */
      readonly failures: number;
      /** Milliseconds since 1970. */
      readonly endedAt: number;
      /** Whether this message was reported before. */
      readonly isReported: boolean;
    };

/** A class, and the state of its capacity. */
export interface CapacitySnapshot {
  readonly machineClass: MachineClass;
  /** Whether its driver can report the capacity of nodes. */
  readonly isSupported: boolean;
  /** Whether class and secrets are valid. */
  readonly isResolvable: boolean;
  /** Of this version of the class and its secrets. */
  readonly answer: CapacityAnswer;
  /** When this process set the template last, with the version of the class, milliseconds since 1970. */
  readonly filled: { readonly version: string; readonly at: number } | undefined;
}

/** All actions of the capacity controller. */
export type CapacityAction =
  | { readonly kind: "LookUpCapacity" }
  /** Stops managing the template: another client has changed it. */
  | { readonly kind: "RemoveMark" }
  | { readonly kind: "Fill"; readonly nodeTemplate: NodeTemplate };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Minimum time before a removed template is set again: another tool may replace the object. */
const REFILL_MS = 10 * MINUTE;

const nothing: Decision<CapacityAction, never> = { actions: [], because: [] };

/** Backoff after a failure, milliseconds: long for permanent failures, and a change of class or secret ends it. */
function retryDelay({ code, failures, retryAfterMs = 0 }: CapacityAnswer & { readonly state: "failed" }): number {
  const [first, longest] = retryClassOf(code) === "transient" ? [5 * SECOND, 5 * MINUTE] : [MINUTE, HOUR];
  return Math.max(retryAfterMs, Math.min(longest, first * 2 ** Math.min(20, failures - 1)));
}

const describe = ({ instanceType, capacity }: NodeTemplate): string =>
  `${instanceType}: ${Object.entries(capacity)
    .map(([name, amount]) => `${name} ${amount}`)
    .toSorted()
    .join(", ")}`;

/**
 * Sets the `nodeTemplate` of a class without one to the values of its driver, and updates it when the class changes, until another client changes it. A template
 * of another client is never overwritten.
 */
export function decideCapacity(snapshot: CapacitySnapshot, now: Date): Decision<CapacityAction, never> {
  const { machineClass, isSupported, isResolvable } = snapshot;
  const { metadata, nodeTemplate } = machineClass;
  if (metadata.deletionTimestamp != null) return nothing;
  const version = capacityVersionOf(machineClass);
  if (nodeTemplate !== undefined) {
    const mark = readMark(machineClass);
    if (!matchesMark(nodeTemplate, mark)) {
      const isMarked = metadata.annotations?.[annotationKeys.filledNodeTemplate] !== undefined;
      return isMarked ? { actions: [{ kind: "RemoveMark" }], because: [] } : nothing;
    }
    if (mark?.spec === version) return nothing;
  }
  return isSupported && isResolvable ? followLookup(snapshot, version, now.getTime()) : nothing;
}

/** What follows from the state of the lookup for a class whose template is to be set. */
function followLookup(
  { answer, filled }: CapacitySnapshot,
  version: string,
  time: number,
): Decision<CapacityAction, never> {
  switch (answer.state) {
    case "notRequested":
      return { actions: [{ kind: "LookUpCapacity" }], because: [] };
    case "inProgress":
      return nothing;
    case "known": {
      const waitMs = filled?.version === version ? filled.at + REFILL_MS - time : 0;
      if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
      const message = `Set nodeTemplate to the values of the cloud for ${describe(answer.nodeTemplate)}`;
      return {
        actions: [{ kind: "Fill", nodeTemplate: answer.nodeTemplate }],
        because: [{ type: "Normal", reason: eventReasons.filledNodeTemplate, message }],
      };
    }
    case "failed": {
      const waitMs = answer.endedAt + retryDelay(answer) - time;
      const message = `${answer.code}: ${answer.message}; set nodeTemplate or fix the class: the autoscaler needs it to scale up from zero`;
      return {
        actions: waitMs > 0 ? [] : [{ kind: "LookUpCapacity" }],
        because: answer.isReported ? [] : [{ type: "Warning", reason: eventReasons.nodeTemplateUnknown, message }],
        ...(waitMs > 0 ? { requeueAfterMs: waitMs } : {}),
      };
    }
  }
}
