import { describe, expect, it, test } from "vitest";
import { aCall, host, throwing, token, unaborted, wild } from "../testing/hosted-driver.ts";

const check = { name: "Image", status: "failed", message: "there is no image" };

describe("the checks of a class", () => {
  it("are returned without unknown fields, and without secrets", async () => {
    const odd = { ...check, message: `no image for ${token}`, remedy: `use ${token}`, extra: 1 };
    const outcome = await host({ checkClass: wild({ checks: [check, odd] }) }).checkClass(aCall(), unaborted);
    expect(outcome).toMatchObject({ ok: true, value: { checks: [check, { name: "Image", status: "failed" }] } });
    expect(JSON.stringify(outcome)).not.toContain(token);
    expect(JSON.stringify(outcome)).not.toContain("extra");
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["no list", { checks: check }],
    ["a check without a name", { checks: [{ ...check, name: "" }] }],
    ["a check without a message", { checks: [{ ...check, message: undefined }] }],
    ["an unknown status", { checks: [{ ...check, status: "fine" }] }],
    ["more checks than anyone reads", { checks: Array.from({ length: 201 }, () => check) }],
  ])("have failed when the driver answers %s", async (_, answer) => {
    const outcome = await host({ checkClass: wild(answer) }).checkClass(aCall(), unaborted);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: "Internal", message: expect.stringMatching(/^checkClass of the driver/) },
    });
  });

  it("end with the failure of the driver, and with Unimplemented where it has none", async () => {
    const { checkClass } = host({ checkClass: throwing(new Error(`boom ${token}`)) });
    const failure = await checkClass(aCall(), unaborted);
    expect(failure).toMatchObject({ ok: false, error: { code: "Internal" } });
    expect(JSON.stringify(failure)).not.toContain(token);
    expect(await host({}).checkClass(aCall(), unaborted)).toMatchObject({
      ok: false,
      error: { code: "Unimplemented" },
    });
  });
});
