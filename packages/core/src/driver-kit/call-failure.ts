import { proxyErrorCode } from "@millwright/base/egress";
import type { MachineErrorCode } from "../driver/machine-error-code.ts";
import { MachineError } from "../driver/machine-error.ts";
import { isAnswerTooLong, mostAnswerBytes } from "./answer-size.ts";

/** Codes of connections that broke or never came to be. */
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

/** A field of something that was thrown, or came from outside, and whose shape nobody can trust. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const codeOf = (error: unknown): string => {
  const code = fieldOf(error, "code");
  return typeof code === "string" ? code : "";
};

/**
 * The error of a call whose signal has aborted.
 *
 * @param what what was tried, with its scope: `making m5.large in subnet-1 (eu-west-1)`
 */
export function abortedCall(signal: AbortSignal, what: string): MachineError {
  const timedOut = signal.reason instanceof Error && signal.reason.name === "TimeoutError";
  return timedOut
    ? new MachineError("DeadlineExceeded", `${what}: took longer than the deadline of the call`, {
        cause: signal.reason,
      })
    : new MachineError("Aborted", `${what}: the call was stopped`, { cause: signal.reason });
}

/**
 * What a request failed of that got no answer, or one that is too long, told by the error of Node: code of the contract and text. Undefined for what is neither about a connection nor a fault of the driver.
 *
 * @param code code of the system, where the error of the SDK has it in another place than `code`
 */
export function failureWithoutAnswer(
  error: unknown,
  cloud: string,
  code = codeOf(error),
): readonly [MachineErrorCode, string] | undefined {
  if ([code, codeOf(error)].includes(proxyErrorCode)) {
    return ["Unavailable", `${cloud} cannot be reached: ${error instanceof Error ? error.message : String(error)}`];
  }
  const broken = [code, codeOf(error)].find((name) => connectionCodes.has(name));
  if (broken !== undefined) return ["Unavailable", `${cloud} cannot be reached or broke the connection (${broken})`];
  if (isAnswerTooLong(error)) return ["Unavailable", `${cloud} answered with more than ${mostAnswerBytes} bytes`];
  if (fieldOf(error, "name") === "TimeoutError" || code === "ETIMEDOUT") {
    return ["DeadlineExceeded", `${cloud} did not answer in time`];
  }
  if (code.startsWith("ERR_TLS") || code.startsWith("ERR_SSL") || code.includes("CERT")) {
    return ["Unavailable", `the TLS connection to ${cloud} failed (${code})`];
  }
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
    return ["Internal", `the driver failed: ${error.message}`];
  }
  return undefined;
}
