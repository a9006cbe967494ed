import { describe, expect, it } from "vitest";
import { MachineError } from "../driver/machine-error.ts";
import type { CheckClassResponse } from "../driver/messages.ts";
import { type NamedCheck, runChecks } from "./run-checks.ts";

const good = (name: string): NamedCheck => ({ name, run: () => Promise.resolve({ status: "ok", message: "fine" }) });
const throwing = (name: string, error: unknown): NamedCheck => ({ name, run: () => Promise.reject(error) });
const toError = (thrown: unknown, what: string): MachineError =>
  thrown instanceof MachineError ? thrown : new MachineError("Internal", `${what}: ${String(thrown)}`);
const run = (first: NamedCheck, others: readonly NamedCheck[], signal = new AbortController().signal) =>
  runChecks({ first, others, toError, signal });
const statuses = ({ checks }: CheckClassResponse) => checks.map(({ name, status }) => `${name} ${status}`);

describe("runChecks", () => {
  it("lists all outcomes in order, also when some checks throw", async () => {
    const others = [throwing("Image", "boom"), good("Subnet"), throwing("Zone", new MachineError("NotFound", "none"))];
    const response = await run(good("Credentials"), others);
    expect(statuses(response)).toEqual(["Credentials ok", "Image failed", "Subnet ok", "Zone failed"]);
    expect(response.checks[1]?.message).toBe("check Image: boom");
  });

  it("skips a check that lacks a permission of its own, and fails one that lacks a permission of the driver", async () => {
    const image = throwing("Image", new MachineError("PermissionDenied", "no"));
    const response = await run(good("Credentials"), [
      { ...image, hasOwnPermission: true },
      { ...image, name: "Zone" },
    ]);
    expect(statuses(response)).toEqual(["Credentials ok", "Image skipped", "Zone failed"]);
    expect(response.checks[1]).toMatchObject({ message: "no", remedy: expect.stringContaining("Grant") });
  });

  it("runs the last check only when no other has failed", async () => {
    const runWith = (other: NamedCheck) =>
      runChecks({
        first: good("Credentials"),
        others: [other],
        last: good("Launch"),
        toError,
        signal: new AbortController().signal,
      });
    expect(statuses(await runWith(good("Image")))).toEqual(["Credentials ok", "Image ok", "Launch ok"]);
    const failed = await runWith(throwing("Image", "boom"));
    expect(statuses(failed)).toEqual(["Credentials ok", "Image failed", "Launch skipped"]);
  });

  it.each(["Unauthenticated", "PermissionDenied", "Unavailable"] as const)(
    "makes no other request when the first check ends with %s",
    async (code) => {
      let calls = 0;
      const other = { name: "Image", run: () => Promise.reject(new Error(`call ${++calls}`)) };
      const response = await run(throwing("Credentials", new MachineError(code, "wrong")), [other]);
      expect(statuses(response)).toEqual(["Credentials failed", "Image skipped"]);
      expect(response.checks[1]?.message).toContain('"Credentials" failed');
      expect(calls).toBe(0);
    },
  );

  it("throws when its signal aborts", async () => {
    const stop = new AbortController();
    stop.abort();
    const image = throwing("Image", new MachineError("Aborted", "stopped"));
    await expect(run(good("Credentials"), [image], stop.signal)).rejects.toMatchObject({ code: "Aborted" });
  });
});
