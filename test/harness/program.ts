import { type ChildProcess, spawn } from "node:child_process";

/** A running program. */
export interface Program {
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

/** Starts a program. `title` names it in errors. */
export function startProgram(
  title: string,
  path: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Program {
  const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
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

  const waitFor = (pattern: RegExp, timeoutMs = 120_000): Promise<RegExpMatchArray> =>
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
          finish(() => reject(new Error(`${title} ended before it printed ${pattern}:\n${text}`)));
        }
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`${title} did not print ${pattern} in ${timeoutMs} ms:\n${text}`))),
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
