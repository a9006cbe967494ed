import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { eventually } from "./eventually.ts";

const run = promisify(execFile);

/** Whether terminals can be opened (test/system/install-tmux). */
export const hasTmux = await run("tmux", ["-V"]).then(
  () => true,
  () => false,
);

/** Columns and rows. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** A shell in a terminal of tmux. */
export interface Terminal {
  /** What is on the screen, a line each, without blanks at the ends; what the terminal has wrapped is one line. */
  lines(): Promise<readonly string[]>;
  /** Presses keys, by the names of tmux: `Enter`, `C-c`, `a`. */
  press(...keys: readonly string[]): Promise<void>;
  /** Types a text as it is. */
  type(text: string): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  /** Waits until the screen matches; resolves with the match. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  /** A variable of tmux, such as `alternate_on`. */
  variable(name: string): Promise<string>;
  /** Ends the shell and what runs in it. */
  close(): Promise<void>;
}

/** The prompt of the shell: with the status of the command before. */
const prompt = "status $? > ";

/** Opens a terminal with a shell, on a tmux server of its own. */
export async function openTerminal(
  { columns, rows }: TerminalSize,
  env: Readonly<Record<string, string>> = {},
): Promise<Terminal> {
  const folder = await mkdtemp(join(tmpdir(), "millwright-tmux-"));
  const socket = join(folder, "socket");
  const options = { env: { ...process.env, ...env, PS1: prompt, TERM: "xterm-256color", LC_ALL: "C.UTF-8" } };
  const tmux = async (...args: readonly string[]): Promise<string> =>
    (await run("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...args], options)).stdout;
  await tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "sh", "-i");
  await tmux("set-option", "-g", "window-size", "manual");
  const lines = async (): Promise<readonly string[]> =>
    (await tmux("capture-pane", "-p", "-J")).split("\n").map((line) => line.trimEnd());
  return {
    lines,
    press: async (...keys) => void (await tmux("send-keys", ...keys)),
    type: async (text) => void (await tmux("send-keys", "-l", text)),
    resize: async (size) => void (await tmux("resize-window", "-x", String(size.columns), "-y", String(size.rows))),
    async waitFor(pattern) {
      return eventually(async () => {
        const text = (await lines()).join("\n");
        const match = pattern.exec(text);
        if (match === null) throw new Error(`the terminal does not show ${pattern}:\n${text}`);
        return match;
      }, 60_000);
    },
    variable: async (name) => (await tmux("display-message", "-p", `#{${name}}`)).trim(),
    async close() {
      await tmux("kill-server").catch(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
