import { isMachineError, isMachineErrorCode, MachineError, type MachineErrorCode } from "@millwright/core";
import { machineErrorCodes } from "@millwright/core/driver-host";
import type { WireError } from "./messages.ts";
import { present } from "./present.ts";

/** The host shortens texts further, after it has redacted them. */
const MAX_TEXT = 65_536;

const codesByNumber: ReadonlyMap<number, MachineErrorCode> = new Map(
  Object.keys(machineErrorCodes)
    .filter(isMachineErrorCode)
    .filter((code) => code !== "OK")
    .map((code) => [machineErrorCodes[code].number, code]),
);

/** A text for anything that was thrown; never throws itself. */
export function textOfThrown(thrown: unknown): string {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message : thrown;
    return String(text);
  } catch {
    return "something that cannot be printed was thrown";
  }
}

const shorten = (text: string): string => (text.length > MAX_TEXT ? text.slice(0, MAX_TEXT) : text);

/** Whole milliseconds that protobuf and a number hold, rounded up; undefined for other values. */
const delayOf = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 ? Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER) : undefined;

/** Anything that a driver threw, for the response. What is no `MachineError` is a bug of the driver: `Internal`. */
export function toWireError(thrown: unknown): WireError {
  const message = shorten(textOfThrown(thrown));
  if (!isMachineError(thrown)) return { code: machineErrorCodes.Internal.number, message };
  const {
    code,
    retryAfterMs,
    tokenIsSpent,
    lastKnownState,
  }: { readonly [Key in keyof MachineError]?: unknown } & {
    readonly code: MachineErrorCode;
  } = thrown;
  return present({
    code: machineErrorCodes[code].number,
    message,
    retryAfterMs: delayOf(retryAfterMs),
    tokenIsSpent: tokenIsSpent === true ? true : undefined,
    lastKnownState: typeof lastKnownState === "string" ? shorten(lastKnownState) : undefined,
  });
}

/** The error of a response as the driver threw it. A code that this version does not know is `Unknown`: the outcome is open. */
export function fromWireError(error: WireError): MachineError {
  const { code = 0, message = "", retryAfterMs, tokenIsSpent, lastKnownState } = error;
  const known = code === 0 ? "Internal" : (codesByNumber.get(code) ?? "Unknown");
  return new MachineError(
    known,
    message,
    present({ retryAfterMs, tokenIsSpent: tokenIsSpent === true ? true : undefined, lastKnownState }),
  );
}
