import { proxyErrorCode } from "@millwright/base/egress";
import type { MachineErrorCode } from "../driver/machine-error-code.ts";
import { MachineError } from "../driver/machine-error.ts";
import { isAnswerTooLong, mostAnswerBytes } from "./answer-size.ts";

/** Codes of connections that broke or could not be established. */
const connectionCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "EPROTO",
]);

/** A field of an untrusted value, such as a thrown error. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const codeOf = (error: unknown): string => {
  const code = fieldOf(error, "code");
  return typeof code === "string" ? code : "";
};

/**
 * The error of a call whose signal has aborted.
 *
 * @param what what was attempted, with its scope: `creating m5.large in subnet-1 (eu-west-1)`
 */
export function abortedCall(signal: AbortSignal, what: string): MachineError {
  const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return timedOut
    ? new MachineError("DeadlineExceeded", `${what}: the deadline of the call was exceeded`, {
        cause: signal.reason,
      })
    : new MachineError("Aborted", `${what}: the call was aborted`, { cause: signal.reason });
}

/**
 * Code of the contract and message for a request that got no response, or one that is too long, derived from the error of Node. Undefined if it is neither an error of the connection nor a bug of the driver.
 *
 * @param code code of the system, where the error of the SDK has it in another place than `code`
 */
export function failureWithoutAnswer(
  error: unknown,
  cloud: string,
  code = codeOf(error),
): readonly [MachineErrorCode, string] | undefined {
  if ([code, codeOf(error)].includes(proxyErrorCode)) {
    return ["Unavailable", `${cloud} is unreachable: ${error instanceof Error ? error.message : String(error)}`];
  }
  const broken = [code, codeOf(error)].find((name) => connectionCodes.has(name));
  if (broken !== undefined) return ["Unavailable", `${cloud} is unreachable (${broken})`];
  if (isAnswerTooLong(error)) return ["Unavailable", `${cloud} sent a response of more than ${mostAnswerBytes} bytes`];
  if (fieldOf(error, "name") === "TimeoutError" || code === "ETIMEDOUT") {
    return ["DeadlineExceeded", `${cloud} did not respond in time`];
  }
  if (code.startsWith("ERR_TLS") || code.startsWith("ERR_SSL") || code.includes("CERT")) {
    return ["Unavailable", `the TLS connection to ${cloud} failed (${code})`];
  }
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
    return ["Internal", `the driver failed: ${error.message}`];
  }
  return undefined;
}
