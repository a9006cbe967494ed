import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const bin = fileURLToPath(new URL("../../packages/cli/src/bin.ts", import.meta.url));

/** A running `millwright` command, as a user starts it. */
export interface MillwrightProcess {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** Resolves with the match as soon as the output contains the pattern; rejects when the process ends first, or too late. */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Resolves with the exit status when it ends; a signal that killed it counts as 128. */
  readonly ended: Promise<number>;
  /** Sends a signal and resolves with the exit status. */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

/** Starts the command from its sources on the Node that runs the tests. */
export function startMillwright(args: readonly string[], env: NodeJS.ProcessEnv = {}): MillwrightProcess {
  const child = spawn(process.execPath, ["--conditions=@millwright/source", bin, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const listeners = new Set<() => void>();
  const onData = (chunk: Buffer): void => {
    text += chunk.toString("utf8");
    for (const listener of listeners) listener();
  };
  child.stdout.on("data", onData);
  child.stderr.on("data", onData);
  const ended = new Promise<number>((resolve) => {
    child.once("close", (code) => {
      resolve(code ?? 128);
      for (const listener of listeners) listener();
    });
  });

  const waitFor = (pattern: RegExp, timeoutMs = 30_000): Promise<RegExpMatchArray> =>
    new Promise((resolve, reject) => {
      const finish = (end: () => void): void => {
        clearTimeout(timer);
        listeners.delete(check);
        end();
      };
      const check = (): void => {
        const match = pattern.exec(text);
        if (match !== null) finish(() => resolve(match));
        else if (child.exitCode !== null || child.signalCode !== null) {
          finish(() => reject(new Error(`millwright ${args.join(" ")} ended before it printed ${pattern}:\n${text}`)));
        }
      };
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(new Error(`millwright ${args.join(" ")} did not print ${pattern} in ${timeoutMs} ms:\n${text}`)),
          ),
        timeoutMs,
      );
      listeners.add(check);
      check();
    });

  return {
    child,
    output: () => text,
    waitFor,
    ended,
    async stop(signal = "SIGINT") {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}

/** Starts `millwright run` with the mock driver on the cluster of a kubeconfig, without leader election. */
export const startControllers = (kubeconfig: string, ...flags: readonly string[]): MillwrightProcess =>
  startMillwright(["run", "--provider=mock", "--no-leader-elect", `--control-kubeconfig=${kubeconfig}`, ...flags]);
