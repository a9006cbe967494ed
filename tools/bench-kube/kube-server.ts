import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isRecord } from "@millwright/base";
import { type ApiClient, createApiClient } from "@millwright/kube";

/** The fake API server of serve.ts, in a process of its own so that its work is not counted. */
export interface BenchServer {
  readonly api: ApiClient;
  /** TLS connections that it has accepted so far. */
  connections(): Promise<number>;
  /** How many events it sends on each watch of pods from now on. */
  sendEvents(perSecond: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts it, and a client that is connected and has made its first requests. */
export async function startBenchServer(): Promise<BenchServer> {
  const program = fileURLToPath(new URL("./serve.ts", import.meta.url));
  const child = spawn(process.execPath, ["--conditions=@millwright/source", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { port, cert } = await firstLine(child);
  const api = createApiClient({ server: `https://127.0.0.1:${port}`, tls: { ca: cert } });
  const ask = async (path: string, query: Readonly<Record<string, number>> = {}): Promise<unknown> =>
    (await api.request({ method: "GET", path, query })).body;
  await ask("/warm-up");
  return {
    api,
    async connections() {
      const counts = await ask("/counts");
      if (!isRecord(counts)) throw new Error("the server counts nothing");
      return Number(counts["connections"]);
    },
    async sendEvents(perSecond) {
      await ask("/rate", { perSecond });
    },
    async close() {
      await api.close();
      child.kill();
    },
  };
}

async function firstLine(child: ChildProcess): Promise<{ readonly port: number; readonly cert: string }> {
  if (child.stdout === null) throw new Error("the server has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    const address: unknown = JSON.parse(line);
    if (isRecord(address) && typeof address["port"] === "number" && typeof address["cert"] === "string") {
      return { port: address["port"], cert: address["cert"] };
    }
    break;
  }
  throw new Error("the server ended before it listened");
}
