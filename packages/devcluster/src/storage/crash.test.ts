import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemRandom } from "@millwright/base";
import { arrayAt, stringAt } from "../json/json.ts";
import { startServer } from "../testing/start-server.ts";
import { openFileStorage } from "./file-storage.ts";

let directory: string;
let child: ChildProcess | undefined;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "devcluster-crash-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

const maps = "/api/v1/namespaces/default/configmaps";

/** Starts a server in a process of its own. Resolves with its address once it listens. */
async function spawnServer(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const program = fileURLToPath(new URL("../testing/durable-server.ts", import.meta.url));
  const started = spawn(process.execPath, ["--conditions=@millwright/source", program, directory], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  const lines = createInterface({ input: started.stdout });
  const { value } = await lines[Symbol.asyncIterator]().next();
  return { url: String(value), process: started };
}

/** Writes until the server is killed. Records the acknowledged writes and the one in flight. */
async function writeUntilKilled(
  url: string,
  writer: number,
  known: Map<string, string | undefined>,
  onAnswer: () => void,
): Promise<Set<string>> {
  const open = new Set<string>();
  for (let step = 0; ; step += 1) {
    const name = `w${writer}-${step % 20}`;
    const value = `${writer}.${step}`;
    const exists = known.get(name) !== undefined;
    const removes = exists && step % 7 === 0;
    const [method, path] = removes
      ? ["DELETE", `${maps}/${name}`]
      : exists
        ? ["PUT", `${maps}/${name}`]
        : ["POST", maps];
    open.add(name);
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { "content-type": "application/json" },
        ...(removes
          ? {}
          : { body: JSON.stringify({ metadata: { name }, data: { value, filler: "x".repeat(step % 3000) } }) }),
      });
      await response.text();
      expect(response.ok).toBe(true);
      known.set(name, removes ? undefined : value);
      open.delete(name);
      onAnswer();
    } catch (error) {
      if (error instanceof TypeError) return open;
      throw error;
    }
  }
}

test("a kill at any moment loses no write that was acknowledged", { timeout: 60_000 }, async () => {
  const known = new Map<string, string | undefined>();
  for (let round = 0; round < 5; round += 1) {
    const { url, process: victim } = await spawnServer();
    // At any moment after so many answers, which even a busy computer reaches.
    let answersLeft = 5 + Math.floor(systemRandom.next() * 300);
    const onAnswer = (): void => {
      answersLeft -= 1;
      if (answersLeft === 0) setTimeout(() => victim.kill("SIGKILL"), systemRandom.next() * 10);
    };
    const writers = [0, 1, 2, 3].map((writer) => writeUntilKilled(url, writer, known, onAnswer));
    const exited = new Promise((resolve) => {
      victim.once("exit", resolve);
    });
    const undecided = new Set((await Promise.all(writers)).flatMap((open) => [...open]));
    await exited;
    const survivor = await startServer({ storage: openFileStorage(directory) });
    const { body } = await survivor.call("GET", maps);
    await survivor.server.close();
    const stored = new Map(
      arrayAt(body, "items").map((item) => [stringAt(item, "metadata", "name") ?? "", stringAt(item, "data", "value")]),
    );
    const answered = [...known].filter(([name]) => !undecided.has(name));
    expect(answered.map(([name]) => [name, stored.get(name)])).toEqual(answered);
    // What was under way may have been written or not: from here on it is known.
    for (const name of undecided) known.set(name, stored.get(name));
    for (const name of stored.keys()) expect(known.has(name)).toBe(true);
  }
  expect(known.size).toBeGreaterThan(10);
});
