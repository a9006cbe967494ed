import { afterEach, expect, it, vi } from "vitest";
import { boundRegExp } from "./bounded-regexp.ts";

afterEach(() => vi.restoreAllMocks());

/** A regular expression whose first match gets no further, as on a computer that lets other programs run. */
function stalledOnce(): RegExp {
  const regExp = /a+b*/u;
  let hasStalled = false;
  regExp.test = () => {
    if (hasStalled) return true;
    hasStalled = true;
    for (;;);
  };
  return regExp;
}

it("matches again what took a second in which the computer did something else", () => {
  vi.spyOn(process, "threadCpuUsage").mockReturnValue({ user: 0, system: 0 });
  const regExp = boundRegExp(stalledOnce());
  expect(regExp.test("a")).toBe(true);
});

it("gives a match up that took half a second of the processor, and does not try the pattern again", () => {
  let user = 0;
  vi.spyOn(process, "threadCpuUsage").mockImplementation(() => ({ user: (user += 250_000), system: 0 }));
  const regExp = boundRegExp(stalledOnce());
  expect(() => regExp.test("a")).toThrow("takes longer than 1 s");
  expect(() => regExp.test("a")).toThrow("takes longer than 1 s");
});
