import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "@millwright/core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createFileLog, createJsonLog } from "./json-log.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "log-"));
});
afterAll(() => rm(folder, { recursive: true }));

const linesOf = async (file: string): Promise<readonly unknown[]> =>
  (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

describe("a log", () => {
  it("is one JSON object a line, from its level upwards", async () => {
    const file = join(folder, "a.log");
    const { log, close } = createFileLog(file, "info");
    log("debug", "unseen");
    log("info", "two\nlines", { machine: "m" });
    log("error", "bad");
    await close();
    expect(await linesOf(file)).toEqual([
      { level: "info", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), machine: "m", message: "two\nlines" },
      { level: "error", time: expect.any(String), message: "bad" },
    ]);
  });

  it("holds no secret, of our type or under a name that gives it away", async () => {
    const file = join(folder, "b.log");
    const { log, close } = createFileLog(file, "debug");
    log("info", "x", {
      secret: Secret.of("hidden-1"),
      data: { userData: Secret.of("hidden-2") },
      token: "hidden-3",
      headers: { authorization: "Bearer hidden-4", Authorization: "hidden-5" },
      user: { password: "hidden-6", token: "hidden-7" },
      error: new Error("seen").message,
    });
    await close();
    const text = await readFile(file, "utf8");
    expect(text).not.toContain("hidden");
    expect(text).toContain("seen");
  });

  it("holds no secret at any depth, and shows errors with their causes", async () => {
    const file = join(folder, "e.log");
    const { log, close } = createFileLog(file, "debug");
    const cause = Object.assign(new Error("seen-1", { cause: { headers: { Authorization: "hidden-1" } } }), {
      code: "E1",
    });
    log("info", "x \u202e", {
      a: { b: { c: [{ token: "hidden-2", clientSecret: "hidden-3", userData: "hidden-4" }] } },
      error: new AggregateError([new Error("seen-2")], "seen-3", { cause }),
      secrets: [new Map([["key", Secret.of("hidden-5")]]), Buffer.from("hidden-6")],
      request: Object.assign(new Error("seen-4"), { config: { data: "hidden-7" } }),
    });
    await close();
    const text = await readFile(file, "utf8");
    expect(text).not.toContain("hidden");
    expect(text).not.toContain("\u202e");
    expect(await linesOf(file)).toMatchObject([
      {
        error: {
          message: "seen-3",
          stack: expect.stringContaining("seen-3"),
          cause: { message: "seen-1", code: "E1" },
          errors: [{ message: "seen-2" }],
        },
        request: { message: "seen-4" },
      },
    ]);
  });

  it("survives fields that cannot be printed", async () => {
    const file = join(folder, "f.log");
    const { log, close } = createFileLog(file, "debug");
    const circle: Record<string, unknown> = { big: 1n, not: () => 1 };
    circle["circle"] = circle;
    Object.defineProperty(circle, "hostile", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    log("info", "x", { circle, revoked: revoked.proxy, many: Array.from({ length: 1_000 }, (_, index) => index) });
    await close();
    const [line] = await linesOf(file);
    expect(line).toMatchObject({
      circle: { big: "1", not: "(function)", hostile: "(cannot be printed)" },
      revoked: "(cannot be printed)",
    });
    expect(JSON.stringify(line).length).toBeLessThan(1_000);
  });

  it("is appended to, and readable by its owner only", async () => {
    const file = join(folder, "c.log");
    for (const message of ["first", "second"]) {
      const { log, close } = createFileLog(file, "info");
      log("info", message);
      await close();
    }
    expect(await linesOf(file)).toMatchObject([{ message: "first" }, { message: "second" }]);
  });

  it("that cannot be written stops nothing", async () => {
    const { log, close } = createFileLog(join(folder, "missing", "d.log"), "info");
    log("info", "lost");
    await expect(close()).resolves.toBeUndefined();
    expect(() => log("info", "lost too")).not.toThrow();
  });

  it("goes to stderr, so that stdout stays for results", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    createJsonLog("info")("warn", "careful");
    expect(write.mock.calls.map(([line]) => String(line)).join("")).toContain('"message":"careful"');
    write.mockRestore();
  });
});
