import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { createDriver, folderProblem } from "./create-driver.ts";
import { driverNameOf, nameProblem } from "./driver-name.ts";

const usage = `Usage: npm create millwright-driver NAME

Writes the package of a Millwright driver into a new folder: a driver for a cloud of its own, which you replace by yours.

NAME is the name of the package, such as my-cloud or @my-scope/my-cloud. The part after the scope is the name of the
folder and of the driver, as in "provider" of a MachineClass.

Options:
  -h, --help  print this
`;

/** The first version that runs TypeScript by itself and that the package names in `engines`. */
const oldestNode = [22, 19] as const;

/** A line about a Node that is too old for the new package; empty for others. `npm create` itself needs less. */
function nodeHint(version: string): string {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
  return isOld
    ? `\nInstall Node ${oldestNode.join(".")} or newer first: this is ${version}, which cannot run the tests.\n`
    : "";
}

const nextSteps = (folder: string): string => `Created ${folder}. Next:

  cd ${folder}
  npm install
  npm test       # checks the driver against the driver contract
`;

/** What the command prints, and its exit status: 0, 1 when files cannot be written, 2 for invalid arguments. */
export interface CommandResult {
  readonly status: number;
  readonly output: string;
  readonly errors: string;
}

const failed = (status: number, problem: string): CommandResult => ({
  status,
  output: "",
  errors: `create-millwright-driver: ${problem}\n`,
});

/**
 * Runs the command.
 *
 * @param cwd where the new folder is created
 * @param nodeVersion that of the running Node, such as `24.1.0`
 */
export async function main(
  args: readonly string[],
  cwd: string,
  nodeVersion: string = process.versions.node,
): Promise<CommandResult> {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h", default: false } },
    });
  } catch (error) {
    return failed(2, `${messageOf(error)} (--help prints the usage)`);
  }
  if (parsed.values.help) return { status: 0, output: usage, errors: "" };
  const [name, ...others] = parsed.positionals;
  if (name === undefined || others.length > 0)
    return failed(2, `expects one name, such as npm create millwright-driver my-cloud`);
  const problem = nameProblem(name) ?? (await folderProblem(resolve(cwd, driverNameOf(name))));
  if (problem !== undefined) return failed(2, problem);
  try {
    await createDriver(name, resolve(cwd, driverNameOf(name)));
  } catch (error) {
    return failed(1, `the package cannot be written: ${messageOf(error)}`);
  }
  return { status: 0, output: nextSteps(driverNameOf(name)) + nodeHint(nodeVersion), errors: "" };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
