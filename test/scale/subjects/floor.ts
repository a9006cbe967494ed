import { fileURLToPath } from "node:url";
import { startProgram } from "../../harness/program.ts";
import { floorAgent } from "./floor-agent.ts";
import type { Subject } from "./subject.ts";

/**
 * A program that makes the requests of a creation that no controller can do without, and nothing else: what it costs the API server, any
 * implementation costs it.
 */
export function floor(): Subject {
  return {
    name: "floor",
    build: "the least requests",
    agents: [floorAgent],
    async start(kubeconfig) {
      const program = startProgram("the floor", process.execPath, [
        "--conditions=@millwright/source",
        fileURLToPath(new URL("floor-process.ts", import.meta.url)),
        kubeconfig,
      ]);
      return [{ name: "floor", program, metricsUrl: "http://127.0.0.1:1/" }];
    },
    leads: async (_api, programs) => programs.some(({ program }) => program.output().includes("watching")),
  };
}
