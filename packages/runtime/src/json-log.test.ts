import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "@millwright/base";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFileLog } from "./json-log.ts";

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
      { level: "info", time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), machine: "m", msg: "two\nlines" },
      { level: "error", time: expect.any(String), msg: "bad" },
    ]);
  });

  it("holds no secret, of our type or under a name that gives it away", async () => {
    const file = join(folder, "b.log");
    const { log, close } = createFileLog(file, "debug");
    log("info", "x", {
      secret: Secret.of("hidden-1"),
      fields: {
        data: { userData: Secret.of("hidden-2") },
        token: "hidden-3",
        headers: { authorization: "Bearer hidden-4", Authorization: "hidden-5" },
        user: { password: "hidden-6", token: "hidden-7" },
      },
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
      found: { b: { c: [{ token: "hidden-2", clientSecret: "hidden-3", userData: "hidden-4" }] } },
      error: new AggregateError([new Error("seen-2")], "seen-3", { cause }),
      running: [new Map([["key", Secret.of("hidden-5")]]), Buffer.from("hidden-6")],
      because: Object.assign(new Error("seen-4"), { config: { data: "hidden-7" } }),
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
        because: { message: "seen-4" },
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
    log("info", "x", {
      found: circle,
      because: revoked.proxy,
      running: Array.from({ length: 1_000 }, (_, index) => index),
    });
    await close();
    const [line] = await linesOf(file);
    expect(line).toMatchObject({
      found: { big: "1", not: "(function)", hostile: "(cannot be printed)" },
      because: "(cannot be printed)",
    });
    expect(JSON.stringify(line).length).toBeLessThan(1_000);
  });

  it("has keys of the list only; others are under fields", async () => {
    const file = join(folder, "g.log");
    const { log, close } = createFileLog(file, "info");
    // As a driver, or code without types, may call it.
    const others: Readonly<Record<string, unknown>> = {
      machine: "m",
      msg: "forged",
      level: "forged",
      requestId: "r-1",
    };
    log("info", "x", { ...others, fields: { seen: 1 } });
    const another: Readonly<Record<string, unknown>> = { fields: "text", requestId: "r-2" };
    log("info", "y", another);
    await close();
    const [first, second] = await linesOf(file);
    expect(first).toEqual({
      level: "info",
      time: expect.any(String),
      machine: "m",
      fields: { seen: 1, msg: "forged", level: "forged", requestId: "r-1" },
      msg: "x",
    });
    expect(second).toMatchObject({ fields: { fields: "text", requestId: "r-2" }, msg: "y" });
  });

  it.each([
    ["info", false],
    ["debug", true],
  ] as const)("of level %s shows the stack of a driver's error: %s; that of our own always", async (level, isShown) => {
    const file = join(folder, `h-${level}.log`);
    const { log, close } = createFileLog(file, level);
    const error = new Error("outer", { cause: new Error("inner") });
    log("error", "x", { driver: "mock", error, fields: { errors: [new Error("nested")] } });
    log("error", "y", { error });
    await close();
    const [ofDriver, own] = (await readFile(file, "utf8")).trim().split("\n");
    expect(ofDriver).toContain('"message":"inner"');
    expect(ofDriver?.match(/"stack":/g) ?? []).toHaveLength(isShown ? 3 : 0);
    expect(own?.match(/"stack":/g)).toHaveLength(2);
  });

  it("goes to stderr, and loses no line when the process exits, also where its reader is slow", async () => {
    const script = `import { createJsonLog } from ${JSON.stringify(new URL("json-log.ts", import.meta.url).href)};
      const log = createJsonLog("info");
      for (let count = 0; count < 5000; count++) log("info", "a line of a usual length, about what a machine does", { count });
      process.exit(3);`;
    const child = spawn(
      process.execPath,
      ["--conditions=@millwright/source", "--input-type=module-typescript", "--eval", script],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    const ended = once(child, "close");
    let stdout = "";
    child.stdout.on("data", (chunk) => (stdout += String(chunk)));
    let text = "";
    for await (const chunk of child.stderr) {
      text += String(chunk);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect([(await ended)[0], stdout]).toEqual([3, ""]);
    const lines = text.trim().split("\n");
    expect(lines).toHaveLength(5_000);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ count: 4_999 });
  });

  it("is appended to, and readable by its owner only", async () => {
    const file = join(folder, "c.log");
    for (const message of ["first", "second"]) {
      const { log, close } = createFileLog(file, "info");
      log("info", message);
      await close();
    }
    expect(await linesOf(file)).toMatchObject([{ msg: "first" }, { msg: "second" }]);
  });

  it("that cannot be written stops nothing", async () => {
    const { log, close } = createFileLog(join(folder, "missing", "d.log"), "info");
    log("info", "lost");
    await expect(close()).resolves.toBeUndefined();
    expect(() => log("info", "lost too")).not.toThrow();
  });
});
