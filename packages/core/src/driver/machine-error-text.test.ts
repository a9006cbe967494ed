import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isMachineErrorCode, machineErrorCodes } from "./machine-error-code.ts";
import { decodeMachineError, encodeMachineError } from "./machine-error-text.ts";

const code = fc.constantFrom(...Object.keys(machineErrorCodes).filter(isMachineErrorCode));

/** Texts whose brackets pair up, nested or not. */
const balanced = fc.letrec<{ text: string; part: string }>((tie) => ({
  text: fc.array(tie("part"), { maxLength: 4 }).map((parts) => parts.join("")),
  part: fc.oneof(
    { maxDepth: 3 },
    fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[[\]]/g, "")),
    tie("text").map((text) => `[${text}]`),
  ),
})).text;

describe("encodeMachineError", () => {
  it("writes MCM's text form", () => {
    expect(encodeMachineError({ code: "ResourceExhausted", message: "no capacity" })).toBe(
      "machine codes error: code = [ResourceExhausted] message = [no capacity]",
    );
  });
});

describe("decodeMachineError", () => {
  it.each<[string, string, { code: string; message: string } | undefined]>([
    [
      "the plain form",
      "machine codes error: code = [NotFound] message = [gone]",
      { code: "NotFound", message: "gone" },
    ],
    [
      "a wrapped form",
      "Cloud provider message - machine codes error: code = [Internal] message = [x]. Retry",
      { code: "Internal", message: "x" },
    ],
    [
      "nested brackets as part of the message",
      "code = [Internal] message = [disk [sda [1]] lost]",
      { code: "Internal", message: "disk [sda [1]] lost" },
    ],
    ["an empty message", "code = [Aborted] message = []", { code: "Aborted", message: "" }],
    ["any text with two groups", "[Unavailable][later]", { code: "Unavailable", message: "later" }],
    ["an unknown code as Unknown", "code = [Teapot] message = [x]", { code: "Unknown", message: "x" }],
    [
      "MCM's spelling of an unknown number as Unknown",
      "code = [Code(99)] message = [x]",
      { code: "Unknown", message: "x" },
    ],
    ["a name of Object.prototype as Unknown", "code = [constructor] message = [x]", { code: "Unknown", message: "x" }],
    ["a code in another case as Unknown", "code = [notfound] message = [x]", { code: "Unknown", message: "x" }],
    [
      "a closing bracket too many by cutting the message there",
      "code = [Internal] message = [a ] b]",
      { code: "Internal", message: "a " },
    ],
    [
      "a stray closing bracket before the groups by ignoring it",
      "] code = [Internal] message = [a]",
      { code: "Internal", message: "a" },
    ],
    ["an opening bracket too many as nothing", "code = [Internal] message = [a [ b]", undefined],
    [
      "an open group at the end by ignoring it",
      "code = [Internal] message = [a] [open",
      { code: "Internal", message: "a" },
    ],
    ["a wrapper with brackets as nothing", "[mc] code = [Internal] message = [a]", undefined],
    ["one group as nothing", "failed with [Internal]", undefined],
    ["a text without groups as nothing", "connection refused", undefined],
    ["an empty text as nothing", "", undefined],
  ])("reads %s", (_what, text, expected) => {
    expect(decodeMachineError(text)).toEqual(expected);
  });

  it("reads back every error whose message has paired brackets", () => {
    fc.assert(
      fc.property(code, balanced, (code, message) => {
        expect(decodeMachineError(encodeMachineError({ code, message }))).toEqual({ code, message });
      }),
    );
  });

  it("reads a long text in linear time", () => {
    const message = "[".repeat(200_000) + "]".repeat(200_000);
    expect(decodeMachineError(encodeMachineError({ code: "Internal", message }))?.message).toHaveLength(400_000);
  });
});

describe("decodeMachineError when tolerant", () => {
  it("reads back every error, whatever its message", () => {
    fc.assert(
      fc.property(code, fc.string({ unit: fc.constantFrom("[", "]", "a", "\n", " = ") }), (code, message) => {
        expect(decodeMachineError(encodeMachineError({ code, message }), { tolerant: true })).toEqual({
          code,
          message,
        });
      }),
    );
  });

  it("reads an error inside a wrapper that adds brackets before it", () => {
    const text = `[worker 3] ${encodeMachineError({ code: "Unavailable", message: "later" })}`;
    expect(decodeMachineError(text)).toBeUndefined();
    expect(decodeMachineError(text, { tolerant: true })).toEqual({ code: "Unavailable", message: "later" });
  });

  it("falls back to MCM's rule for other texts", () => {
    expect(decodeMachineError("[NotFound] [gone]", { tolerant: true })).toEqual({ code: "NotFound", message: "gone" });
    expect(decodeMachineError("refused", { tolerant: true })).toBeUndefined();
  });
});
