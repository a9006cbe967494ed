import { describe, expect, it, test } from "vitest";
import { aCall, host, notFound, theVm, token, unaborted, wild } from "../testing/hosted-driver.ts";

const answer = (message: string, checkAfterMs: number) => async () => ({ pending: { message, checkAfterMs } });

describe("an answer that is pending", () => {
  it("is passed on for creations and deletions, without the checks of a VM", async () => {
    const pending = answer("wiping disks", 30_000);
    const { ensureVm, deleteVm } = host({ createMachine: pending, deleteMachine: pending });
    const outcome = { ok: true, value: { pending: { message: "wiping disks", checkAfterMs: 30_000 } } };
    expect(await ensureVm(aCall(), unaborted)).toEqual(outcome);
    expect(await deleteVm(aCall(), unaborted)).toEqual(outcome);
  });

  it("is not asked for where the VM is found", async () => {
    const { ensureVm } = host({ createMachine: answer("installing", 1_000), getMachineStatus: theVm });
    expect(await ensureVm(aCall(), unaborted)).toMatchObject({ ok: true, value: { providerId: "vm-1" } });
  });

  it("comes with the same token every time", async () => {
    const tokens: string[] = [];
    const { ensureVm } = host({
      getMachineStatus: notFound,
      createMachine: async ({ idempotencyToken }) => {
        tokens.push(idempotencyToken);
        return tokens.length < 3 ? answer("installing", 1_000)() : theVm();
      },
    });
    for (let call = 0; call < 3; call++) await ensureVm(aCall(), unaborted);
    expect(tokens).toEqual(["uid-1-1", "uid-1-1", "uid-1-1"]);
  });

  test.each([
    [0, 1_000],
    [-5, 1_000],
    [1_500, 1_500],
    [3_600_000, 600_000],
    [Number.POSITIVE_INFINITY, 600_000],
  ])("is checked after %d ms in bounds: %d", async (checkAfterMs, expected) => {
    const { deleteVm } = host({ deleteMachine: answer("wiping", checkAfterMs) });
    expect(await deleteVm(aCall(), unaborted)).toMatchObject({ value: { pending: { checkAfterMs: expected } } });
  });

  it("shows no secret, and no more text than a status holds", async () => {
    const { ensureVm } = host({ createMachine: answer(`login with ${token} ${"x".repeat(10_000)}`, 1_000) });
    const outcome = await ensureVm(aCall(), unaborted);
    expect(JSON.stringify(outcome)).not.toContain(token);
    expect(JSON.stringify(outcome).length).toBeLessThan(5_000);
  });

  test.each<[string, unknown]>([
    ["nothing", null],
    ["a text", "soon"],
    ["no message", { checkAfterMs: 1_000 }],
    ["an empty message", { message: " ", checkAfterMs: 1_000 }],
    ["no time", { message: "installing" }],
    ["a time that is no number", { message: "installing", checkAfterMs: Number.NaN }],
  ])("has failed that keeps no contract: %s", async (_, pending) => {
    for (const method of ["createMachine", "deleteMachine"] as const) {
      const { ensureVm, deleteVm } = host({ [method]: wild({ pending }) });
      const outcome = await (method === "createMachine" ? ensureVm : deleteVm)(aCall(), unaborted);
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: "Internal", message: expect.stringMatching(`^${method} of the driver answered pending`) },
      });
    }
  });
});
