import { Readable } from "node:stream";
import { systemClock } from "@millwright/base";
import { describe, expect, it, onTestFinished } from "vitest";
import { startChild } from "./child.ts";
import { readLines } from "./output-lines.ts";

/** Runs code of Node in a process; resolves with how it ended and its lines. */
async function run(code: string) {
  const lines: (readonly string[])[] = [];
  const child = startChild({
    command: [process.execPath, "-e", code],
    env: { PATH: process.env["PATH"] ?? "" },
    onLine: (...line) => lines.push(line),
    clock: systemClock,
  });
  return { ...(await child.ended), lines };
}

describe("a process of a driver", () => {
  it("ends with its status, its output, and the last line of its errors", async () => {
    const { how, lastLine, lines } = await run("console.log('out'); console.error('why\\n'); process.exit(3)");
    expect([how, lastLine]).toEqual(["status 3", "why"]);
    expect(lines).toContainEqual(["stdout", "out"]);
    expect(lines).toContainEqual(["stderr", "why"]);
  });

  it("ends by a signal, and reports a program that does not exist", async () => {
    expect((await run("process.kill(process.pid, 'SIGKILL')")).how).toBe("signal SIGKILL");
    const command = ["/no/such/program"] as const;
    const { ended } = startChild({ command, env: {}, onLine: () => undefined, clock: systemClock });
    expect((await ended).how).toContain("ENOENT");
  });

  it("has ended even if a process of another group, which it started, keeps its pipes open", async () => {
    const { how, lines } = await run(`
      const options = { detached: true, stdio: "inherit" };
      const { pid } = require("node:child_process").spawn("sleep", ["1000"], options);
      console.log(pid);
      setTimeout(() => process.exit(4), 100);`);
    const pid = Number(lines[0]?.[1]);
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(how).toBe("status 4");
    expect(process.kill(pid, 0)).toBe(true);
  });
});

describe("lines of output", () => {
  it("are split, cut when they are long, and end with the output", async () => {
    const lines: string[] = [];
    const stream = Readable.from(["a\r\nb", "c\n", "x".repeat(9_000), "y\nlast"]);
    readLines(stream, (line) => lines.push(line));
    await new Promise((resolve) => stream.on("close", resolve));
    expect(lines).toEqual(["a", "bc", "x".repeat(8_192), "last"]);
  });
});
