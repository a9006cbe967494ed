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
