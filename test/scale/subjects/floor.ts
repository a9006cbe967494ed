import { fileURLToPath } from "node:url";
import { startProgram } from "../../harness/program.ts";
import { floorAgent } from "./floor-agent.ts";
import type { Subject } from "./subject.ts";

/** The program, with what it is to do. */
const floorSubject = (name: "floor" | "same-requests", build: string): Subject => ({
  name,
  build,
  agents: [floorAgent],
  async start(kubeconfig) {
    const program = startProgram("the floor", process.execPath, [
      "--conditions=@millwright/source",
      fileURLToPath(new URL("floor-process.ts", import.meta.url)),
      kubeconfig,
      name,
    ]);
    return [{ name, program, metricsUrl: "http://127.0.0.1:1/" }];
  },
  leads: async (_api, programs) => programs.some(({ program }) => program.output().includes("watching")),
});

/**
 * A program that makes the requests that no controller can do without, and nothing else: what it costs the API server, any
 * implementation costs it.
 */
export const floor = (): Subject => floorSubject("floor", "the least requests");

/** The same program, with Millwright's requests of a deletion. */
export const sameRequests = (): Subject => floorSubject("same-requests", "the requests of Millwright");
