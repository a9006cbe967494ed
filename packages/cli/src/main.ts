import { isConfigError } from "@millwright/base";
import { CommanderError } from "commander";
import { exitStatus } from "./terminal/exit-status.ts";
import { withObjectWords } from "./explain/object-words.ts";
import { createProgram } from "./program.ts";
import { isUsageError } from "./terminal/usage-error.ts";
import { separateMisspeltFlags } from "./terminal/misspelt-flags.ts";
import { plain } from "./terminal/text.ts";

/** A failed request in one sentence; another error is thrown as it is. */
async function explain(error: unknown, command: string): Promise<Error> {
  const { explainFailure } = await import("@millwright/runtime/reports");
  const explained = explainFailure(error, `"millwright ${command}" needs that permission`);
  if (!isConfigError(explained)) throw error;
  return explained;
}

/**
 * Runs one command line and resolves with the {@link exitStatus}: for a failure with one line on stderr. An unexpected error is thrown and shown with its stack.
 *
 * @param name how help texts name the command
 */
export async function main(args: readonly string[], name = "millwright"): Promise<number> {
  // What a shell asks may be no command line yet, so it is not parsed as one.
  if (args[0] === "__complete") {
    const { complete } = await import("./commands/complete.ts");
    await complete(
      createProgram(() => undefined),
      args.slice(1),
    );
    return exitStatus.done;
  }
  let status = 0;
  const program = createProgram((code) => {
    status = code;
  }, args).name(name);
  try {
    // Commander's own --version needs the text in advance.
    const words = args.length === 1 && args[0] === "--version" ? ["version"] : withObjectWords(args);
    await program.parseAsync(separateMisspeltFlags(words, program), { from: "user" });
    return status;
  } catch (error) {
    // Commander has printed the error; help and version end this way, too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitStatus.done : exitStatus.usage;
    const explained = isConfigError(error) ? error : await explain(error, args[0] ?? "");
    process.stderr.write(`millwright: ${plain(explained.message)}\n`);
    return isUsageError(explained) ? exitStatus.usage : exitStatus.failed;
  }
}
