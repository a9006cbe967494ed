import { isConfigError } from "@millwright/core";
import { CommanderError } from "commander";
import { createProgram } from "./program.ts";
import { plain } from "./terminal/text.ts";

/**
 * Runs one command line and resolves with the exit status: 0 when the command did what it is for, 1 when it could not (with one line on
 * stderr that says why), 2 for a command line that is wrong. A fault of ours is shown with its stack.
 */
export async function main(args: readonly string[]): Promise<number> {
  let status = 0;
  const program = createProgram((code) => {
    status = code;
  });
  // Commander's own --version wants the text before anybody asks for it.
  const words = args.length === 1 && args[0] === "--version" ? ["version"] : [...args];
  try {
    await program.parseAsync(words, { from: "user" });
    return status;
  } catch (error) {
    // commander has said what is wrong by now; help and version end this way, too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isConfigError(error)) throw error;
    process.stderr.write(`millwright: ${plain(error.message)}\n`);
    return 1;
  }
}
