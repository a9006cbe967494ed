import { writeFile } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";
import type { RealFleet } from "../compat/real-fleet.ts";
import type { MillwrightProcess } from "./millwright.ts";
import { type Program, startProgram } from "./program.ts";

/** What an autoscaler is started on. */
export interface AutoscalerWorld {
  readonly fleet: Pick<RealFleet, "kubeconfig" | "target">;
  readonly millwright: MillwrightProcess;
  /** A folder for its configuration. */
  readonly folder: string;
  /** Names of the MachineDeployments. */
  readonly groups: readonly string[];
}

/** A cluster autoscaler: no registry serves one, so its paths are in the environment, a list as in `PATH`. */
interface AutoscalerProgram {
  readonly name: string;
  readonly variable: string;
  /** Its own flags and environment. */
  readonly configure: (
    world: AutoscalerWorld,
  ) => Promise<{ readonly flags: readonly string[]; readonly env: NodeJS.ProcessEnv }>;
}

/** The most machines of a group. */
export const MAX_SIZE = 10;

/** That of Kubernetes calls the endpoint of Millwright, that of Gardener reads and writes the objects. */
const autoscalerPrograms: readonly AutoscalerProgram[] = [
  {
    name: "of Kubernetes",
    variable: "MILLWRIGHT_CLUSTER_AUTOSCALER",
    async configure({ millwright, folder }) {
      const [, address = ""] = await millwright.waitFor(/"address":"([^"]*)"[^\n]*Serving the cluster autoscaler/);
      const file = join(folder, "cloud.yaml");
      await writeFile(file, `address: ${address}\n`);
      return { flags: ["--cloud-provider=externalgrpc", `--cloud-config=${file}`], env: {} };
    },
  },
  {
    name: "of Gardener",
    variable: "MILLWRIGHT_CLUSTER_AUTOSCALER_GARDENER",
    configure: ({ fleet, groups }) =>
      Promise.resolve({
        flags: ["--cloud-provider=mcm", ...groups.map((name) => `--nodes=0:${MAX_SIZE}:default.${name}`)],
        env: {
          CONTROL_NAMESPACE: "default",
          CONTROL_KUBECONFIG: fleet.kubeconfig,
          TARGET_KUBECONFIG: fleet.target.kubeconfig,
        },
      }),
  },
];

/** One run of all scenarios. */
export interface AutoscalerRun {
  /** For people: which file, and which repetition. */
  readonly title: string;
  readonly program: AutoscalerProgram;
  /** Undefined when the environment names none. */
  readonly path: string | undefined;
}

/** The runs that an environment asks for: of each program at each path of its list, as often as `MILLWRIGHT_CLUSTER_AUTOSCALER_RUNS`, once by default. A program without path is one run that is skipped. */
export function autoscalerRuns(env: NodeJS.ProcessEnv): readonly AutoscalerRun[] {
  const count = Number(env["MILLWRIGHT_CLUSTER_AUTOSCALER_RUNS"] ?? "1");
  if (!Number.isInteger(count) || count < 1)
    throw new Error("MILLWRIGHT_CLUSTER_AUTOSCALER_RUNS must be a number from 1 on");
  return autoscalerPrograms.flatMap((program): readonly AutoscalerRun[] => {
    const paths = (env[program.variable] ?? "").split(delimiter).filter((path) => path !== "");
    if (paths.length === 0)
      return [{ title: `${program.name}: ${program.variable} is not set`, program, path: undefined }];
    return paths.flatMap((path) =>
      Array.from({ length: count }, (_, index) => {
        const title = `${program.name}, ${basename(path)}${count === 1 ? "" : `, run ${index + 1} of ${count}`}`;
        return { title, program, path };
      }),
    );
  });
}

/** Starts a program, impatient enough for a test. */
export async function startAutoscaler({ program, path }: AutoscalerRun, world: AutoscalerWorld): Promise<Program> {
  const { flags, env } = await program.configure(world);
  const impatient = [
    "--scan-interval=1s",
    "--scale-down-unneeded-time=1s",
    "--scale-down-delay-after-add=0s",
    "--scale-down-delay-after-delete=0s",
    "--scale-down-delay-after-failure=0s",
    "--unremovable-node-recheck-timeout=1s",
  ];
  const common = [
    `--kubeconfig=${world.fleet.target.kubeconfig}`,
    "--leader-elect=false",
    "--address=127.0.0.1:0",
    "--write-status-configmap=false",
    // The group with the smaller machines is first.
    "--expander=least-waste",
  ];
  return startProgram(`cluster autoscaler ${program.name}`, path ?? "", [...common, ...impatient, ...flags], env);
}
