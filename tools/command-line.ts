import { parseArgs, type ParseArgsOptionsConfig } from "node:util";

/** What a command of this repository takes. */
interface CommandLine<T extends ParseArgsOptionsConfig> {
  /** Begins with `usage:`. */
  readonly usage: string;
  readonly options?: T;
  /** The smallest and the largest number of other arguments. Default: none. */
  readonly positionals?: readonly [min: number, max: number];
}

/**
 * Reads the arguments of a command of this repository. `--help` prints its usage and ends the process with status 0; an unknown flag, or a wrong number of arguments, with 2, so that a typo changes nothing.
 *
 * @param args default: those of this process
 */
export function readCommandLine<const T extends ParseArgsOptionsConfig>(
  { usage, options, positionals: [min, max] = [0, 0] }: CommandLine<T>,
  args: readonly string[] = process.argv.slice(2),
) {
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(`${usage.trim()}\n`);
    return process.exit(0);
  }
  const fail = (problem: string): never => {
    process.stderr.write(`${problem}\n${usage.trim()}\n`);
    return process.exit(2);
  };
  try {
    // The compiler keeps the names and types of the flags only from what is written here.
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: max > 0,
      options: options ?? ({} as T),
    });
    if (positionals.length < min || positionals.length > max)
      return fail(`expected ${min === max ? min : `${min} to ${max}`} arguments`);
    return { values, positionals: positionals as readonly string[] };
  } catch (error) {
    return fail(error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error));
  }
}
