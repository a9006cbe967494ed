import { fileURLToPath } from "node:url";
import { builtBin, stateOfBuild } from "./built-command.ts";
import { type Program, startProgram } from "./program.ts";

/** The command, from its sources. */
export const bin = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url));

/** What Node starts: the build, as it is published, where it is up to date, since it starts in half of the processor time of the sources. */
const command: readonly string[] =
  stateOfBuild() === "up to date" ? [builtBin] : ["--conditions=@millwright/source", bin];

/** A running `millwright` command, as a user starts it. */
export type MillwrightProcess = Program;

/** Starts the command on the Node that runs the tests. */
export const startMillwright = (args: readonly string[], env: NodeJS.ProcessEnv = {}): MillwrightProcess =>
  startProgram(`millwright ${args.join(" ")}`, process.execPath, [...command, ...args], env);

/** Starts `millwright run` with the mock driver on the cluster of a kubeconfig, without leader election. */
export const startControllers = (kubeconfig: string, ...flags: readonly string[]): MillwrightProcess =>
  startMillwright(["run", "--provider=mock", "--no-leader-elect", `--control-kubeconfig=${kubeconfig}`, ...flags]);
