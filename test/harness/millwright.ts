import { fileURLToPath } from "node:url";
import { type Program, startProgram } from "./program.ts";

/** The command, from its sources. */
export const bin = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url));

/** A running `millwright` command, as a user starts it. */
export type MillwrightProcess = Program;

/** Starts the command from its sources on the Node that runs the tests. */
export const startMillwright = (args: readonly string[], env: NodeJS.ProcessEnv = {}): MillwrightProcess =>
  startProgram(
    `millwright ${args.join(" ")}`,
    process.execPath,
    ["--conditions=@millwright/source", bin, ...args],
    env,
  );

/** Starts `millwright run` with the mock driver on the cluster of a kubeconfig, without leader election. */
export const startControllers = (kubeconfig: string, ...flags: readonly string[]): MillwrightProcess =>
  startMillwright(["run", "--provider=mock", "--no-leader-elect", `--control-kubeconfig=${kubeconfig}`, ...flags]);
