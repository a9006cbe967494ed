import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { WorldAnswer, WorldCommand, WorldOptions, WorldRequest } from "./world-messages.ts";

/** A running world-process.ts. */
export interface World {
  readonly pid: number;
  send(command: WorldCommand): Promise<WorldAnswer>;
  close(): Promise<void>;
}

/** Starts cloud, nodes and pods; resolves when the CRDs are served and the cloud can be called. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const child = fork(fileURLToPath(new URL("world-process.ts", import.meta.url)), [JSON.stringify(options)], {
    // With the heap for the objects of 100,000 machines.
    execArgv: ["--conditions=@millwright/source", "--max-old-space-size=8192"],
  });
  const waiting = new Map<number, (answer: WorldAnswer) => void>();
  const answer = (id: number): Promise<WorldAnswer> =>
    new Promise((resolve, reject) => {
      const onExit = (code: number | null): void =>
        reject(new Error(`the simulated cloud and nodes ended with ${code}`));
      child.once("exit", onExit);
      waiting.set(id, (found) => {
        child.off("exit", onExit);
        resolve(found);
      });
    });
  child.on("message", (found: WorldAnswer) => {
    waiting.get(found.id)?.(found);
    waiting.delete(found.id);
  });
  await answer(0);
  let lastId = 0;
  return {
    pid: child.pid ?? 0,
    async send(command) {
      lastId += 1;
      const request: WorldRequest = { ...command, id: lastId };
      const answered = answer(lastId);
      child.send(request);
      const found = await answered;
      if (found.error !== undefined) throw new Error(found.error);
      return found;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}
