import { isRecord, redactSecrets, type SecretData } from "@millwright/base";
import { isMachineError, MachineError } from "@millwright/core";
import { toLogFields } from "../logging/log-values.ts";

/** Longest text of a driver that is believed; it ends up in the status of a machine. */
export const MAX_TEXT = 4096;

/** Longest wait that a driver may ask for, milliseconds: one that counts in other units must not stop a machine for days. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/** A text for whatever was thrown; never throws itself. */
export function textOf(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown;
    return String(text);
  } catch {
    return "something that cannot be printed was thrown";
  }
}

/** A text of a driver without secrets and without characters that a terminal interprets, and not too long. Takes secrets out first: a cut would leave half of one. */
export const cleanText = (text: string, secret: SecretData): string => {
  const safe = redactSecrets(text, secret);
  return safe.length > MAX_TEXT ? `${safe.slice(0, MAX_TEXT)}…` : safe;
};

/** Descriptions, events and conditions are lines, and columns of tables. */
const inOneLine = (text: string): string => text.replaceAll(/\s*[\n\u2028\u2029]\s*/g, " ").trim();

const isDelay = (value: unknown): value is number => typeof value === "number" && value >= 0;

/** A text for a value that is no error; that of one that looks like one has its code and message. */
function describeThrown(thrown: unknown): string {
  try {
    const { code, message } = isRecord(thrown) ? thrown : {};
    return typeof message === "string"
      ? [code, message].filter((part) => typeof part === "string").join(": ")
      : textOf(thrown);
  } catch {
    return textOf(thrown);
  }
}

/** What kind of value a driver threw. */
function kindOf(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return "nothing";
  return typeof thrown === "string" ? "a text" : typeof thrown === "object" ? "an object" : `a ${typeof thrown}`;
}

/**
 * Whatever a driver threw, as a value without secrets. What is no `MachineError` is a fault of the driver: Internal. The cause stays behind, for it
 * may hold a request with credentials.
 */
export function toMachineError(thrown: unknown, secret: SecretData): MachineError {
  const message = inOneLine(cleanText(textOf(thrown), secret));
  if (!isMachineError(thrown))
    return new MachineError(
      "Internal",
      thrown instanceof Error
        ? message
        : `threw ${kindOf(thrown)}, not a MachineError: ${inOneLine(cleanText(describeThrown(thrown), secret))}`,
    );
  const retryAfterMs: unknown = thrown.retryAfterMs;
  const lastKnownState: unknown = thrown.lastKnownState;
  return new MachineError(thrown.code, message, {
    ...(isDelay(retryAfterMs) ? { retryAfterMs: Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) } : {}),
    ...(thrown.tokenIsSpent === true ? { tokenIsSpent: true } : {}),
    ...(typeof lastKnownState === "string" ? { lastKnownState: cleanText(lastKnownState, secret) } : {}),
  });
}

/** The fields of a log line of a driver, its secrets taken out of everything in them. */
export const cleanFields = (
  fields: Readonly<Record<string, unknown>> | undefined,
  secret: SecretData,
): Readonly<Record<string, unknown>> => toLogFields(fields ?? {}, (text) => cleanText(text, secret));

/** What a call of a driver results in, with a state of the VM that has no secrets: it is stored in the API. */
export const withCleanState = <Result>(result: Result, secret: SecretData): Result =>
  isRecord(result) && typeof result["lastKnownState"] === "string"
    ? { ...result, lastKnownState: cleanText(result["lastKnownState"], secret) }
    : result;
