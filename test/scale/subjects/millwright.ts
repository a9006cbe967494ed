import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../../tools/control-plane/free-port.ts";
import { bin } from "../../harness/millwright.ts";
import { startProgram } from "../../harness/program.ts";
import type { Subject } from "./subject.ts";

/** What runs: the packages that `npm run build` made, as they are published, or the sources. */
export type Build = "built" | "source";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const builtBin = join(root, "packages/cli/dist/bin.js");

/** Time of the latest change of a file in the sources of the packages, milliseconds. */
function newestSourceMs(): number {
  let newest = 0;
  for (const folder of ["packages", "providers"])
    for (const name of readdirSync(join(root, folder))) {
      const sources = join(root, folder, name, "src");
      if (!existsSync(sources)) continue;
      for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" }))
        newest = Math.max(newest, statSync(join(sources, file)).mtimeMs);
    }
  return newest;
}

/** Which one to measure where no flag decides: the build, unless there is none, or it is older than the sources. */
export function defaultBuild(): { readonly build: Build; readonly because: string } {
  if (!existsSync(builtBin)) return { build: "source", because: "npm run build was not run" };
  return statSync(builtBin).mtimeMs < newestSourceMs()
    ? { build: "source", because: "the build is older than the sources" }
    : { build: "built", because: "the build is up to date" };
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
