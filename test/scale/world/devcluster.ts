import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kubeconfigFor } from "@millwright/devcluster";
import type { RequestCount } from "../measure/request-counts.ts";
import type { BenchCluster } from "./cluster.ts";

/** Starts a devcluster, whose request log has the client of each request. It records a watch when it ends. */
export async function startDevcluster(): Promise<BenchCluster> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-bench-"));
  const child = fork(fileURLToPath(new URL("devcluster-process.ts", import.meta.url)), {
    // With the heap for the objects of 100,000 machines.
    execArgv: ["--conditions=@millwright/source", "--max-old-space-size=8192"],
  });
  const ended = once(child, "exit");
  const message = async <T>(): Promise<T> => {
    const found: unknown = await Promise.race([
      once(child, "message").then(([first]: unknown[]) => first),
      ended.then(() => Promise.reject(new Error("the devcluster ended"))),
    ]);
    return found as T;
  };
  // Readings one after another: a message has no id.
  let last: Promise<unknown> = Promise.resolve();
  const { url } = await message<{ readonly url: string }>();
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(url));
  return {
    name: "devcluster",
    kubeconfig,
    requests() {
      const reading = last.then(() => {
        const answer = message<readonly RequestCount[]>();
        child.send("requests");
        return answer;
      });
      last = reading.catch(() => {});
      return reading;
    },
    processes: async () => [{ name: "devcluster", pid: child.pid ?? 0 }],
    async close() {
      child.kill("SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
