import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crds } from "@millwright/core/machine-api";
import { findBuilt } from "../../tools/control-plane/build-binary.ts";
import type { RealFleet } from "../compat/real-fleet.ts";
import { machineClass } from "./installation.ts";
import { bin } from "./millwright.ts";

const path = await findBuilt("mcm-specs");

/** Whether `npm run control-plane -- build mcm-specs` built the specs here. */
export const hasMcmSpecs = path !== undefined;

/** The result of one of MCM's specs. */
export interface SpecResult {
  readonly spec: string;
  readonly state: "passed" | "skipped" | "failed" | "pending" | "timedout" | "panicked" | "interrupted" | "aborted";
  readonly failure: string;
  readonly seconds: number;
}

/** Starts one half of Millwright, with no conditions but MCM's, which a spec counts: MCM's repository is below the provider's, in `dev/mcm`. */
const make = `#!/bin/sh
case $1 in
  *dev/mcm) half=machine-controller-manager; flag=--no-cluster-api-conditions ;;
  *) half=machine-controller; flag=--provider=mock ;;
esac
exec "$SPECS_NODE" --conditions=@millwright/source "$SPECS_MILLWRIGHT" run --controllers=$half $flag --no-leader-elect --control-kubeconfig="$SPECS_KUBECONFIG"
`;

/** The framework kills each process of the computer that has the name of a controller; it shall find none. */
const ps = "#!/bin/sh\necho '  PID COMMAND'\n";

/** The folders in which the framework looks for things, relative to the folder of a provider's specs; resolves with the latter. */
async function layOut(folder: string): Promise<string> {
  const specs = join(folder, "test/integration/provider");
  const definitions = join(folder, "dev/mcm/kubernetes/crds");
  const delta = join(folder, ".ci/controllers-test");
  for (const each of [specs, definitions, join(delta, "logs"), join(folder, "dev/mcm/.git"), join(folder, "bin")])
    await mkdir(each, { recursive: true });
  for (const crd of crds()) await writeFile(join(definitions, `${crd.metadata.name}.json`), JSON.stringify(crd));
  await writeFile(
    join(delta, "machine-class-patch.json"),
    JSON.stringify({ providerSpec: { labels: { "mcm-integration-test": "true" } } }),
  );
  await writeFile(join(folder, "class.json"), JSON.stringify(machineClass("test-mc-v1")));
  await writeFile(join(folder, "bin/make"), make, { mode: 0o755 });
  await writeFile(join(folder, "bin/ps"), ps, { mode: 0o755 });
  return specs;
}

/**
 * Runs MCM's integration specs with Millwright's processes as the controllers.
 * Resolves with the result of each spec. `log` is what the specs printed.
 *
 * @param skip a regular expression of specs that do not run
 */
export async function runMcmSpecs(
  fleet: RealFleet,
  skip: string,
): Promise<{ readonly results: readonly SpecResult[]; readonly log: string }> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-mcm-specs-"));
  try {
    const child = spawn(path ?? "", [], {
      cwd: await layOut(folder),
      // A process group of its own: the controllers end with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
        CONTROL_KUBECONFIG: fleet.kubeconfig,
        CONTROL_CLUSTER_NAMESPACE: "default",
        TARGET_CLUSTER_NAME: "mock",
        MACHINECLASS_V1: join(folder, "class.json"),
        SKIP_SPEC: skip,
        SPECS_NODE: process.execPath,
        SPECS_MILLWRIGHT: bin,
        SPECS_KUBECONFIG: fleet.controllersKubeconfig,
      },
    });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (log += chunk.toString()));
    const closed = new Promise((resolve) => child.once("close", resolve));
    await new Promise((resolve, reject) => child.once("exit", resolve).once("error", reject));
    if (child.pid !== undefined) endGroup(child.pid);
    await closed;
    // The first one stands behind the dots that show the progress.
    const lines = [...log.matchAll(/RESULT (\{.*\})$/gm)].map(([, line = ""]): SpecResult => JSON.parse(line));
    return { log, results: lines };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Kills the processes of a group. */
function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
