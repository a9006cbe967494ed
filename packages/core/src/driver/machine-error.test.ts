import { describe, expect, it } from "vitest";
import { isMachineErrorCode, machineErrorCodes, retryClassOf } from "./machine-error-code.ts";
import { MachineError, hasMachineErrorCode, isMachineError } from "./machine-error.ts";

describe("machineErrorCodes", () => {
  it("holds MCM's eighteen codes with their numbers", () => {
    expect(Object.entries(machineErrorCodes).map(([name, { number }]) => `${number} ${name}`)).toEqual([
      "0 OK",
      "1 Canceled",
      "2 Unknown",
      "3 InvalidArgument",
      "4 DeadlineExceeded",
      "5 NotFound",
      "6 AlreadyExists",
      "7 PermissionDenied",
      "8 ResourceExhausted",
      "9 FailedPrecondition",
      "10 Aborted",
      "11 OutOfRange",
      "12 Unimplemented",
      "13 Internal",
      "14 Unavailable",
      "15 DataLoss",
      "16 Unauthenticated",
      "17 Uninitialized",
    ]);
  });

  it("retries as MCM does: four codes soon, quota after its own period, the rest late", () => {
    const codes = Object.keys(machineErrorCodes).filter(isMachineErrorCode);
    const inClass = (wanted: string): readonly string[] => codes.filter((code) => retryClassOf(code) === wanted);
    expect(inClass("transient")).toEqual(["Unknown", "DeadlineExceeded", "Aborted", "Unavailable"]);
    expect(inClass("exhausted")).toEqual(["ResourceExhausted"]);
    expect(inClass("none")).toEqual(["OK"]);
    expect(inClass("persistent")).toHaveLength(12);
  });

  it.each(["notfound", "constructor", "__proto__", "toString", "", 5, undefined, null])("has no code %s", (value) => {
    expect(isMachineErrorCode(value)).toBe(false);
  });
});

describe("MachineError", () => {
  it("carries code, message, cause, delay and last known state", () => {
    const cause = new Error("429");
    const error = new MachineError("Unavailable", "slow down", { cause, retryAfterMs: 3000, lastKnownState: "op-1" });
    expect(error).toMatchObject({
      code: "Unavailable",
      message: "slow down",
      cause,
      retryAfterMs: 3000,
      lastKnownState: "op-1",
    });
    expect(String(error)).toBe("machine codes error: code = [Unavailable] message = [slow down]");
  });

  it("has no optional parts that were not given", () => {
    const error = new MachineError("NotFound", "no VM");
    expect(Object.keys(error).toSorted()).toEqual(["code", "name"]);
    expect("cause" in error).toBe(false);
  });

  it("is recognized by its brand when another copy of the package made it", () => {
    const foreign = Object.assign(new Error("gone"), { code: "NotFound" });
    expect(isMachineError(foreign)).toBe(false);
    Object.defineProperty(foreign, Symbol.for("millwright.dev/MachineError"), { value: true });
    expect(isMachineError(foreign)).toBe(true);
    expect(foreign instanceof MachineError).toBe(false);
  });

  it("is not recognized with a code of a later contract", () => {
    const later = Object.assign(new Error("x"), { code: "Teapot" });
    Object.defineProperty(later, Symbol.for("millwright.dev/MachineError"), { value: true });
    expect(isMachineError(later)).toBe(false);
  });

  it("is asked for its code whatever was thrown", () => {
    const error = new MachineError("NotFound", "no VM");
    expect(hasMachineErrorCode(error, "NotFound", "Unimplemented")).toBe(true);
    expect(hasMachineErrorCode(error, "Internal")).toBe(false);
    for (const other of [undefined, null, "NotFound", { code: "NotFound" }, new Error("NotFound")]) {
      expect(hasMachineErrorCode(other, "NotFound")).toBe(false);
    }
  });
});
