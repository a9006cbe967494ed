import type { Random } from "@millwright/base";

/** How an operation ends. */
export interface OperationFailure {
  readonly code: string;
  readonly message: string;
  /** Canceled without an error, as by a user of the portal. */
  readonly status?: "Failed" | "Canceled";
}

/** An asynchronous operation. */
export interface Operation {
  readonly id: string;
  /** Path of its status URL. */
  readonly path: string;
  /** ID of its resource. */
  readonly resourceId: string;
  readonly startedAtMs: number;
  readonly endsAtMs: number;
  /** Undefined while it runs, or when it succeeded. */
  failure: OperationFailure | undefined;
  isOver: boolean;
  /** Runs at its end; may return an error. */
  readonly end: () => OperationFailure | undefined;
}

/** The operations of a world. */
export interface Operations {
  start(
    work: Pick<Operation, "resourceId" | "end"> & {
      readonly provider: string;
      readonly subscription: string;
      readonly location: string;
      /** The path segment of operations of this resource type. */
      readonly collection: string;
      readonly tookMs: number;
    },
  ): Operation;
  byId(id: string): Operation | undefined;
  /** Aborts the operation of a resource. Default: another operation has preempted it. */
  preempt(resourceId: string, failure?: OperationFailure): void;
  /** Completes due operations in order. */
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
