import type { Random } from "@millwright/core";

/** How an operation ends. */
export interface OperationFailure {
  readonly code: string;
  readonly message: string;
  /** Canceled without an error, as when somebody cancels it in the portal. */
  readonly status?: "Failed" | "Canceled";
}

/** Something that goes on after its request was answered. */
export interface Operation {
  readonly id: string;
  /** Path of the address by which it is asked for. */
  readonly path: string;
  /** Id of the resource that it is about. */
  readonly resourceId: string;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  /** Undefined while it goes on, or when it ended well. */
  failure: OperationFailure | undefined;
  isOver: boolean;
  /** What its end does; may say that it failed. */
  readonly end: () => OperationFailure | undefined;
}

/** The operations of a world. */
export interface Operations {
  start(
    work: Pick<Operation, "resourceId" | "end"> & {
      readonly provider: string;
      readonly subscription: string;
      readonly location: string;
      /** What operations of this kind of resource are called in their addresses. */
      readonly collection: string;
      readonly tookMs: number;
    },
  ): Operation;
  byId(id: string): Operation | undefined;
  /** Gives up what is going on with a resource. By default something else has taken its place. */
  preempt(resourceId: string, failure?: OperationFailure): void;
  /** Ends what is due, in order. */
  settle(): void;
}

const preempted: OperationFailure = {
  code: "OperationPreempted",
  message: "The operation has been preempted by a more recent operation.",
};

/** Creates a list of operations. */
export function createOperations(nowMs: () => number, random: Random): Operations {
  const all = new Map<string, Operation>();
  const open = new Set<Operation>();
  return {
    start({ provider, subscription, location, collection, resourceId, tookMs, end }) {
      const id = random.uuid();
      const operation: Operation = {
        id,
        path: `/subscriptions/${subscription}/providers/${provider}/locations/${location}/${collection}/${id}`,
        resourceId,
        startedAtMs: nowMs(),
        endsAtMs: nowMs() + tookMs,
        failure: undefined,
        isOver: false,
        end,
      };
      all.set(id, operation);
      open.add(operation);
      return operation;
    },
    byId: (id) => all.get(id),
    preempt(resourceId, failure = preempted) {
      for (const operation of open) {
        if (operation.resourceId !== resourceId) continue;
        open.delete(operation);
        operation.isOver = true;
        operation.failure = failure;
      }
    },
    settle() {
      const due = [...open].filter(({ endsAtMs }) => endsAtMs <= nowMs()).toSorted((a, b) => a.endsAtMs - b.endsAtMs);
      for (const operation of due) {
        open.delete(operation);
        operation.isOver = true;
        operation.failure = operation.end();
      }
    },
  };
}
