import {
  annotationKeys,
  eventReasons,
  type MachineClass,
  type MachineErrorCode,
  type NodeTemplate,
  retryClassOf,
} from "@millwright/core";
import type { Decision } from "../model/decision.ts";
import { capacityVersionOf, isOfMark, readMark } from "./capacity-mark.ts";

/** What is known of the answer to a question about the capacity of a class. */
export type CapacityAnswer =
  | { readonly state: "notRequested" }
  | { readonly state: "inProgress" }
  | { readonly state: "known"; readonly nodeTemplate: NodeTemplate }
  | {
      readonly state: "failed";
      readonly code: MachineErrorCode;
      readonly message: string;
      readonly retryAfterMs: number | undefined;
      /** Failures in a row. */
      readonly failures: number;
      /** Milliseconds since 1970. */
      readonly endedAt: number;
      /** Whether these very words were told before. */
      readonly isReported: boolean;
    };

/** A class, and what is known of its capacity. */
export interface CapacitySnapshot {
  readonly machineClass: MachineClass;
  /** Whether its driver can say what a node will have. */
  readonly isSupported: boolean;
  /** Whether class and secrets are fit to be handed to the driver. */
  readonly isResolvable: boolean;
  /** Of this version of the class and its secrets. */
  readonly answer: CapacityAnswer;
  /** When this process filled in the template last, with the version of the class, milliseconds since 1970. */
  readonly filled: { readonly version: string; readonly at: number } | undefined;
}

/** Everything that is done about the capacity of a class. */
export type CapacityAction =
  | { readonly kind: "LookUpCapacity" }
  /** The template stays as it is from now on: somebody has changed it. */
  | { readonly kind: "RemoveMark" }
  | { readonly kind: "Fill"; readonly nodeTemplate: NodeTemplate };

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Whoever takes away what was filled in, such as a tool that replaces the object, gets it back not more often than this. */
const REFILL_MS = 10 * MINUTE;

const nothing: Decision<CapacityAction, never> = { actions: [], because: [] };

/** Milliseconds after a failure until the question is asked again: what lasts is asked about rarely, and a change of class or secret ends the wait. */
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
 * Fills the `nodeTemplate` of a class that has none with what its driver says, and renews it when the class changes, as long as nobody else has changed it. What
 * somebody wrote there is never asked about and never touched.
 */
export function decideCapacity(snapshot: CapacitySnapshot, now: Date): Decision<CapacityAction, never> {
  const { machineClass, isSupported, isResolvable, answer, filled } = snapshot;
  const { metadata, nodeTemplate } = machineClass;
  if (metadata.deletionTimestamp != null) return nothing;
  const version = capacityVersionOf(machineClass);
  if (nodeTemplate !== undefined) {
    const mark = readMark(machineClass);
    if (!isOfMark(nodeTemplate, mark)) {
      const isMarked = metadata.annotations?.[annotationKeys.filledNodeTemplate] !== undefined;
      return isMarked ? { actions: [{ kind: "RemoveMark" }], because: [] } : nothing;
    }
    if (mark?.asked === version) return nothing;
  }
  if (!isSupported || !isResolvable) return nothing;
  const time = now.getTime();
  switch (answer.state) {
    case "notRequested":
      return { actions: [{ kind: "LookUpCapacity" }], because: [] };
    case "inProgress":
      return nothing;
    case "known": {
      const waitMs = filled?.version === version ? filled.at + REFILL_MS - time : 0;
      if (waitMs > 0) return { ...nothing, requeueAfterMs: waitMs };
      const message = `nodeTemplate was filled in with what the cloud says of ${describe(answer.nodeTemplate)}`;
      return {
        actions: [{ kind: "Fill", nodeTemplate: answer.nodeTemplate }],
        because: [{ type: "Normal", reason: eventReasons.filledNodeTemplate, message }],
      };
    }
    case "failed": {
      const waitMs = answer.endedAt + retryDelay(answer) - time;
      const message = `${answer.code}: ${answer.message}; set nodeTemplate, or mend what the driver refuses: until then the autoscaler knows nothing of the nodes of this class`;
      return {
        actions: waitMs > 0 ? [] : [{ kind: "LookUpCapacity" }],
        because: answer.isReported ? [] : [{ type: "Warning", reason: eventReasons.nodeTemplateUnknown, message }],
        ...(waitMs > 0 ? { requeueAfterMs: waitMs } : {}),
      };
    }
  }
}
