/** The error of an operation. */
export interface OperationError {
  readonly code: string;
  readonly message: string;
  readonly errorDetails?: readonly unknown[];
}

/** An operation in a zone. */
export interface Operation {
  readonly id: string;
  readonly name: string;
  readonly project: string;
  readonly zone: string;
  readonly operationType: "insert" | "delete" | "compute.instances.preempted";
  /** The kind of its resource. */
  readonly collection: "instances" | "disks";
  readonly targetId: string;
  readonly targetName: string;
  readonly user: string;
  readonly startedAtMs: number;
  readonly insertTime: string;
  readonly doneAtMs: number;
  readonly error?: { readonly errors: readonly OperationError[]; readonly httpStatus: number };
  /** Applied when it is done, and then removed. */
  finish?: () => void;
}

/** Status of an operation at a time. */
export function operationStatus({ startedAtMs, doneAtMs }: Operation, nowMs: number): "PENDING" | "RUNNING" | "DONE" {
  if (nowMs >= doneAtMs) return "DONE";
  return nowMs < startedAtMs + (doneAtMs - startedAtMs) / 3 ? "PENDING" : "RUNNING";
}

const root = "https://www.googleapis.com/compute/v1";

/** URL of a zone in responses. */
export const zoneUrl = (project: string, zone: string): string => `${root}/projects/${project}/zones/${zone}`;

/** Names of statuses in operations. */
const statusTexts: Readonly<Record<number, string>> = {
  400: "BAD REQUEST",
  403: "FORBIDDEN",
  404: "NOT FOUND",
  409: "CONFLICT",
  500: "INTERNAL SERVER ERROR",
  503: "SERVICE UNAVAILABLE",
};

/** The response for an operation. */
export function operationJson(operation: Operation, nowMs: number): Readonly<Record<string, unknown>> {
  const { id, name, project, zone, operationType, collection, targetId, targetName, user, insertTime, error } =
    operation;
  const status = operationStatus(operation, nowMs);
  const isDone = status === "DONE";
  const at = zoneUrl(project, zone);
  return {
    kind: "compute#operation",
    id,
    name,
    zone: at,
    operationType,
    targetLink: `${at}/${collection}/${targetName}`,
    targetId,
    status,
    progress: isDone ? 100 : 0,
    user,
    insertTime,
    startTime: insertTime,
    ...(isDone ? { endTime: insertTime } : {}),
    selfLink: `${at}/operations/${name}`,
    ...(isDone && error !== undefined
      ? {
          error: { errors: error.errors },
          httpErrorStatusCode: error.httpStatus,
          httpErrorMessage: statusTexts[error.httpStatus] ?? "ERROR",
        }
      : {}),
  };
}
