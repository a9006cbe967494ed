import { goPrograms, leaseHolders, startGoProgram } from "../../harness/go-mcm.ts";
import { versionOf } from "../../../tools/control-plane/versions.ts";
import type { Subject, SubjectProgram } from "./subject.ts";

/**
 * Gardener's MCM with a driver of the same simulated cloud (`tools/go-mcm`), the first start builds it.
 *
 * @param flags more flags of both programs
 */
export function goMcm(flags: readonly string[]): Subject {
  return {
    name: "go-mcm",
    build: ["MCM", versionOf("go-mcm"), ...flags].join(" "),
    agents: [...goPrograms],
    start: (kubeconfig) =>
      Promise.all(
        goPrograms.map(async (name): Promise<SubjectProgram> => {
          const program = await startGoProgram(name, kubeconfig, ["--leader-elect=true", ...flags]);
          const port = program.child.spawnargs.find((arg) => arg.startsWith("--port="))?.slice("--port=".length) ?? "";
          return { name, program, metricsUrl: `http://127.0.0.1:${port}/metrics` };
        }),
      ),
    leads: async (api) => (await leaseHolders(api)).every((holder) => holder === "Go"),
  };
}
