import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

/** How a process ends whose output is closed before it writes. */
async function end(script: string): Promise<{ code: unknown; signal: unknown; errors: string }> {
  const module = JSON.stringify(join(import.meta.dirname, "closed-output.ts"));
  const source = `import { stopWhenOutputCloses } from ${module};
    stopWhenOutputCloses();
    await new Promise((resolve) => process.stdin.on("data", resolve));
    ${script}
    process.stdin.destroy();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdout.destroy();
  child.stdin.write("go");
  const [[code, signal], errors] = await Promise.all([once(child, "close"), text(child.stderr)]);
  return { code, signal, errors };
}

it("lets a command that has nothing to stop end with its own status, and prints nothing", async () => {
  const script = `process.exitCode = 3; process.stdout.write("one\\n"); process.stdout.write("two\\n");`;
  expect(await end(script)).toEqual({ code: 3, signal: null, errors: "" });
});

it("stops a command that runs on once, also when it listens only after the first text", async () => {
  const script = `process.stdout.write("one\\n");
    const timer = setInterval(() => process.stdout.write("two\\n"), 5);
    process.on("SIGTERM", () => { clearInterval(timer); process.exitCode = (process.exitCode ?? 0) + 7; });`;
  expect(await end(script)).toEqual({ code: 7, signal: null, errors: "" });
});
