import { isConfigError } from "@millwright/base";
import type { ManifestObject, ManifestProblem, Validation } from "@millwright/plan";
import { createCommandDrivers } from "../drivers/command-drivers.ts";
import type { ProviderTlsFlags } from "../drivers/driver-address.ts";
import { exitStatus } from "../terminal/exit-status.ts";
import { plain } from "../terminal/text.ts";

/** Flags of `millwright validate`. */
export interface ValidateFlags extends ProviderTlsFlags {
  readonly provider?: readonly string[];
  readonly strict?: boolean;
  readonly output: "text" | "json";
}

/** A path that cannot be read. */
interface Unreadable {
  readonly source: string;
  readonly message: string;
  readonly severity: "error";
}

const lineOf = ({ source, location, kind, name, path, message, severity }: ManifestProblem): string => {
  const place = location === undefined ? source : `${location.file}:${location.line}`;
  return plain(`${place}: ${severity}: ${kind} "${name}": ${path}: ${message}`);
};

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function summaryOf({ problems, checked, skipped }: Validation, unreadable: number): string {
  const errors = problems.filter(({ severity }) => severity === "error").length + unreadable;
  const others = skipped === 0 ? "" : ` ${plural(skipped, "object")} of other kinds: not checked.`;
  const found = `${plural(errors, "error")}, ${plural(problems.length + unreadable - errors, "warning")}`;
  return `${plural(checked, "object")} checked: ${found}.${others}`;
}

/** Reads what can be read. */
async function readAll(
  paths: readonly string[],
): Promise<{ readonly manifests: readonly ManifestObject[]; readonly unreadable: readonly Unreadable[] }> {
  const { readManifests } = await import("@millwright/plan");
  const unreadable: Unreadable[] = [];
  const read = async (path: string): Promise<readonly ManifestObject[]> => {
    try {
      return await readManifests(path);
    } catch (error) {
      if (!isConfigError(error)) throw error;
      unreadable.push({ source: path, message: error.message, severity: "error" });
      return [];
    }
  };
  return { manifests: (await Promise.all(paths.map(read))).flat(), unreadable };
}

/** Prints the problems of manifests; resolves with the exit status. Connects to no cluster and no cloud. */
export async function validate(paths: readonly string[], flags: ValidateFlags): Promise<number> {
  const [{ validateManifests }, { createDriverFinder }] = await Promise.all([
    import("@millwright/plan"),
    import("@millwright/runtime/checks"),
  ]);
  const drivers = createCommandDrivers(flags);
  try {
    const driverFor = await createDriverFinder(flags.provider ?? [], drivers.load);
    const { manifests, unreadable } = await readAll(paths);
    const validation = await validateManifests(manifests, driverFor);
    const problems = [...unreadable, ...validation.problems];
    if (flags.output === "json") {
      process.stdout.write(`${JSON.stringify({ ...validation, problems }, null, 2)}\n`);
    } else {
      const lines = [
        ...unreadable.map(({ message }) => plain(`error: ${message}`)),
        ...validation.problems.map(lineOf),
      ];
      process.stdout.write(`${[...lines, summaryOf(validation, unreadable.length)].join("\n")}\n`);
    }
    const isFailed = problems.some(({ severity }) => severity === "error" || flags.strict === true);
    return isFailed ? exitStatus.failed : exitStatus.done;
  } finally {
    await drivers.close();
  }
}
