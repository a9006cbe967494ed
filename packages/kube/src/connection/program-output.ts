import { spawn } from "node:child_process";
import { platform } from "node:process";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import type { Clock, Timer } from "@millwright/base";
import { startDeadline } from "../deadline.ts";
import { firstLine } from "../log.ts";

/** A program that writes one text and ends. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Whether this process runs in a terminal. Default: whether one of its standard streams is one. */
  readonly isInTerminal?: boolean;
}

/** How a program ended. */
interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** No credential is longer. */
const maxOutputBytes = 1024 * 1024;
/** How long the rest of the output may take after the program has ended, milliseconds. */
const restMs = 500;

/**
 * Runs a program without input and returns its standard output.
 *
 * At the deadline the program is ended with all that it started, for example what a shell script waits for. In a terminal only itself: there it stays in the
 * process group of this process, so that Ctrl-C ends both and the terminal is its own, too.
 *
 * @throws Error when it cannot be started, fails, or does not end in time; the message never contains its standard output
 */
export async function readProgramOutput(program: Program, clock: Clock): Promise<string> {
  const { command, args, env, timeoutMs, isInTerminal = [0, 1, 2].some((stream) => isatty(stream)) } = program;
  // On Windows it would get a console window.
  const hasOwnGroup = !isInTerminal && platform !== "win32";
  const ended = Promise.withResolvers<Exit>();
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  const pipes: Readable[] = [];
  let rest: Timer | undefined;
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"], detached: hasOwnGroup });
  const deadline = startDeadline(clock, timeoutMs);

  function end(): void {
    if (!hasOwnGroup || child.pid === undefined) return void child.kill();
    try {
      process.kill(-child.pid);
    } catch {
      // All have ended.
    }
  }
  function collect(pipe: Readable, into: Buffer[]): void {
    let size = 0;
    pipes.push(pipe);
    pipe.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxOutputBytes) into.push(chunk);
      else end();
    });
  }

  child.on("error", ended.reject);
  // Without file descriptors there are no pipes, but an error.
  child.on("spawn", () => {
    collect(child.stdout, out);
    collect(child.stderr, errors);
  });
  child.on("close", (code, signal) => ended.resolve({ code, signal }));
  // What it leaves in the background may keep its output open for days. After a pause of this process, what is there is read first.
  child.on("exit", (code, signal) => {
    rest = clock.setTimer(restMs, () => setImmediate(() => ended.resolve({ code, signal })));
  });
  deadline.signal.addEventListener("abort", () => {
    end();
    ended.reject(new Error(`${command} did not exit within ${timeoutMs} ms`));
  });
  try {
    const { code, signal } = await ended.promise;
    if (code === 0) return Buffer.concat(out).toString("utf8");
    const text = firstLine(Buffer.concat(errors).toString("utf8").trim());
    throw new Error(`${command} exited with ${signal ?? `status ${code}`}${text === "" ? "" : `: ${text}`}`);
  } finally {
    rest?.cancel();
    deadline.clear();
    for (const pipe of pipes) pipe.destroy();
    child.unref();
  }
}
