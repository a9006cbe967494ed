import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { versionOf } from "../../../tools/control-plane/versions.ts";
import { startRealServer } from "../../compat/real-server.ts";
import { auditFlags, auditPolicy, requestOfAuditLine } from "../measure/audit-line.ts";
import { createRequestCounter } from "../measure/request-counts.ts";
import { descendantsOf } from "../measure/sample-process.ts";
import type { BenchCluster } from "./cluster.ts";

/** Programs of a control plane; the kernel keeps 15 characters. */
const programs = new Map([
  ["etcd", "etcd"],
  ["kube-apiserver", "kube-apiserver"],
  ["kube-controller", "kube-controller-manager"],
]);

/**
 * Starts etcd, kube-apiserver and kube-controller-manager as `npm run test:real` does, with an audit log, in which requests are counted: it is the server's own
 * record, and has the client of each request, which the metrics of kube-apiserver do not have.
 */
export async function startRealCluster(signal: AbortSignal): Promise<BenchCluster> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-bench-"));
  const policy = join(folder, "policy.json");
  const log = join(folder, "audit.log");
  try {
    await writeFile(policy, JSON.stringify(auditPolicy));
    const plane = await startRealServer(signal, auditFlags(policy, log));
    const read = followAuditLog(log);
    return {
      name: `kube-apiserver ${versionOf("kubernetes")}`,
      kubeconfig: plane.kubeconfig,
      requests: read,
      async processes() {
        const found = await descendantsOf(process.pid);
        return found.flatMap(({ pid, name }) => {
          const program = programs.get(name);
          return program === undefined ? [] : [{ pid, name: program }];
        });
      },
      async close() {
        await plane.stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Counts the requests of an audit log; each call reads what was appended since the one before. */
function followAuditLog(path: string): BenchCluster["requests"] {
  const counter = createRequestCounter();
  let offset = 0;
  let rest = "";
  const chunk = Buffer.alloc(1 << 20);
  return async () => {
    const file = await open(path);
    try {
      for (;;) {
        const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
        if (bytesRead === 0) return counter.counts();
        offset += bytesRead;
        // Names and user agents are ASCII; a character that is cut in two parts is in a field that nothing reads.
        const lines = (rest + chunk.toString("latin1", 0, bytesRead)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) counter.add(requestOfAuditLine(line));
      }
    } finally {
      await file.close();
    }
  };
}
