import { freePorts } from "../../../tools/control-plane/free-port.ts";
import { builtBin, stateOfBuild } from "../../harness/built-command.ts";
import { bin } from "../../harness/millwright.ts";
import { startProgram } from "../../harness/program.ts";
import type { Subject } from "./subject.ts";

/** What runs: the packages that `npm run build` made, as they are published, or the sources. */
export type Build = "built" | "source";

/** Which one to measure where no flag decides: the build, unless there is none, or it is older than the sources. */
export function defaultBuild(): { readonly build: Build; readonly because: string } {
  const state = stateOfBuild();
  return { build: state === "up to date" ? "built" : "source", because: `the build is ${state}` };
}

/**
 * `millwright run` as the chart starts it, with the mock driver: default flags, metrics, leader election.
 *
 * @param flags more flags of `millwright run`
 */
export function millwright(build: Build, flags: readonly string[]): Subject {
  const command = build === "built" ? [builtBin] : ["--conditions=@millwright/source", bin];
  return {
    name: "millwright",
    build: [build, ...flags].join(" "),
    agents: ["millwright", "millwright-leader-election"],
    async start(kubeconfig, namespace) {
      const [port = 0] = await freePorts(1);
      const program = startProgram("millwright run", process.execPath, [
        ...command,
        "run",
        "--provider=mock",
        `--control-kubeconfig=${kubeconfig}`,
        `--namespace=${namespace}`,
        "--log-level=info",
        "--address=127.0.0.1",
        `--port=${port}`,
        ...flags,
      ]);
      return [{ name: "millwright", program, metricsUrl: `http://127.0.0.1:${port}/metrics` }];
    },
    leads: async (_api, programs) => programs.some(({ program }) => program.output().includes('"Leading"')),
  };
}
