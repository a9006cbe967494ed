import { type Client, type MethodDefinition, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { MachineError, type MachineErrorCode } from "@millwright/core";

/** How long a call may take, and what ends it earlier. */
export interface CallLimits {
  readonly signal?: AbortSignal | undefined;
  /** Wall clock, milliseconds. */
  readonly deadlineMs: number;
}

/** Whether a call failed with a gRPC status. */
export const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && typeof Reflect.get(error, "code") === "number" && "details" in error;

/** The gRPC status with which a call failed; undefined for any other failure. */
export const statusOf = (error: unknown): status | undefined => (isServiceError(error) ? error.code : undefined);

/**
 * Makes a unary call.
 *
 * @throws the reason of the signal, or the `ServiceError` of gRPC
 */
export function callUnary<Request, Response>(
  client: Client,
  method: MethodDefinition<Request, Response>,
  request: Request,
  { signal, deadlineMs }: CallLimits,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const call = client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      new Metadata(),
      { deadline: deadlineMs },
      (error, response) => {
        signal?.removeEventListener("abort", onAbort);
        if (error !== null) reject(error);
        else if (response === undefined) reject(new Error(`${method.path}: no response`));
        else resolve(response);
      },
    );
    const onAbort = (): void => {
      reject(signal?.reason);
      call.cancel();
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * What a status means for a call of a driver. None of these codes allows the conclusion that no VM was created (`rejectionCodes`) or that there is none
 * (`NotFound`): statuses are also made by libraries, proxies and lost connections.
 */
const codes: Readonly<Partial<Record<status, MachineErrorCode>>> = {
  [status.DEADLINE_EXCEEDED]: "DeadlineExceeded",
  [status.UNAVAILABLE]: "Unavailable",
  [status.CANCELLED]: "Unavailable",
  // A reset stream.
  [status.INTERNAL]: "Unknown",
  [status.ABORTED]: "Unknown",
};

/** The failure of a call for the controllers, from the failure of gRPC. */
export function fromStatus(error: unknown, what: string): MachineError {
  const code = statusOf(error);
  const details = isServiceError(error) ? error.details : error instanceof Error ? error.message : String(error);
  if (code === undefined) return new MachineError("Internal", `${what}: ${details}`, { cause: error });
  const known = codes[code];
  if (known === "Unavailable")
    return new MachineError("Unavailable", `${what} is unreachable: ${details}`, { cause: error });
  if (known !== undefined) return new MachineError(known, `${what}: ${details}`, { cause: error });
  const hint = "a driver reports its failures in the field error of the response";
  return new MachineError("Internal", `${what} failed with gRPC status ${status[code]}: ${details}; ${hint}`, {
    cause: error,
  });
}
