import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const program = fileURLToPath(new URL("./election-candidate.ts", import.meta.url));

/** A candidate in a process of its own: `election-candidate.ts`, for the Lease `election` unless another one is named. */
export function startCandidate(server: string, identity: string, lease = "election") {
  const child: ChildProcess = spawn(
    process.execPath,
    ["--conditions=@millwright/source", program, server, identity, lease],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
  const closed = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 128)));
  return {
    child,
    closed,
    lines: () => text.split("\n").filter((line) => line !== ""),
    send: (line: string) => void child.stdin?.write(`${line}\n`),
    waitFor: async (line: string, timeoutMs = 20_000): Promise<void> => {
      await expect.poll(() => text.split("\n"), { timeout: timeoutMs, interval: 20 }).toContain(line);
    },
    kill: () => child.kill("SIGKILL"),
  };
}
