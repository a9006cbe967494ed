import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type ApiClient, type ClusterConfig, createApiClient } from "@millwright/kube";

/** A program of this folder in a process of its own, and the lines that it prints. */
export interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** The next line of its output. Rejects when the program ends instead. */
  line(): Promise<string>;
}

/** Starts a program of this folder; `flags` are those of the engine. */
export function startProgram(file: string, args: readonly string[] = [], flags: readonly string[] = []): Program {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [...flags, path, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async line() {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${file} ended before it answered`);
      return value;
    },
  };
}

/** Runs from the sources, as everything in the repository does. */
export const fromSource = ["--conditions=@millwright/source"] as const;

/** How to start a devcluster of its own for one measurement. */
export interface ServerOptions {
  /** Flags of the engine. Default {@link fromSource}; without it the built packages run. */
  readonly flags?: readonly string[];
  /** HTTPS and a bearer token instead of plain HTTP. Default false. */
  readonly isSecure?: boolean;
}

/** Runs a measurement against a new devcluster, so that measurements do not affect each other. */
export async function withServer<T>(
  options: ServerOptions,
  run: (api: ApiClient, url: string) => Promise<T>,
): Promise<T> {
  const args = options.isSecure === true ? ["--secure"] : [];
  const program = startProgram("./devcluster-server.ts", args, options.flags ?? fromSource);
  try {
    const { url, certificateAuthority, token }: { url: string; certificateAuthority?: string; token?: string } =
      JSON.parse(await program.line());
    const api = createApiClient(clusterConfig(url, certificateAuthority, token));
    try {
      return await run(api, url);
    } finally {
      await api.close();
    }
  } finally {
    program.child.kill();
  }
}

/** How to reach a server by bearer token. */
export function clusterConfig(server: string, ca: string | undefined, token: string | undefined): ClusterConfig {
  return {
    server,
    ...(ca === undefined ? {} : { tls: { ca } }),
    ...(token === undefined
      ? {}
      : { credentials: () => Promise.resolve({ headers: { authorization: `Bearer ${token}` } }) }),
  };
}

/** Runs something for each index, 16 at a time. */
export async function forEach(count: number, run: (index: number) => Promise<unknown>): Promise<void> {
  const parallel = 16;
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await run(index);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}
