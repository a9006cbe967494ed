import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CheckResult, FixtureFactory, ProfileName } from "@millwright/conformance";
import { ConfigError, isConfigError } from "@millwright/base";
import { type FixtureFlags, fixtureOfFlags } from "../conformance/flag-fixture.ts";
import { readClassFile, readSecretFile } from "../conformance/read-manifests.ts";
import { type CommandDrivers, createCommandDrivers } from "../drivers/command-drivers.ts";
import { isAddress, type ProviderTlsFlags } from "../drivers/driver-address.ts";
import { plain } from "../terminal/text.ts";

/** Flags of `millwright conformance`. */
export interface ConformanceFlags extends ProviderTlsFlags, FixtureFlags {
  readonly provider?: string;
  readonly class?: string;
  readonly secret?: string;
  readonly fixture?: string;
  readonly profile: ProfileName;
  readonly maxVms?: number;
  readonly maxCreations?: number;
  readonly only?: readonly string[];
  readonly output: "table" | "junit" | "json";
  readonly report?: string;
}

/** Loads the default export of a fixture module. */
async function loadFixture(file: string): Promise<FixtureFactory> {
  const url = pathToFileURL(resolve(file)).href;
  let loaded: unknown;
  try {
    loaded = await import(url);
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new ConfigError(`--fixture ${file}: cannot be loaded: ${reason}`, { cause });
  }
  const factory: unknown = typeof loaded === "object" && loaded !== null ? Reflect.get(loaded, "default") : undefined;
  if (typeof factory !== "function")
    throw new ConfigError(`--fixture ${file}: the default export must be the result of defineFixture`);
  return async () => Reflect.apply(factory, undefined, []);
}

const stopSignals = ["SIGINT", "SIGTERM"] as const;

/** A signal that the first SIGINT or SIGTERM aborts, so that the run deletes its VMs; a second one ends the process. */
function untilStopped(): { readonly signal: AbortSignal; readonly leave: () => void } {
  const stop = new AbortController();
  const leave = (): void => {
    for (const name of stopSignals) process.removeListener(name, onSignal);
  };
  const onSignal = (): void => {
    leave();
    process.stderr.write("millwright: stopping after the check that is in progress; a second signal ends it at once\n");
    stop.abort();
  };
  for (const name of stopSignals) process.on(name, onSignal);
  return { signal: stop.signal, leave };
}

async function run(
  flags: ConformanceFlags,
  load: CommandDrivers["load"],
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly passed: boolean }> {
  const suite = await import("@millwright/conformance");
  const runtime = await import("@millwright/runtime");
  const { provider } = flags;
  const isInteractive = process.stderr.isTTY;
  const onResult = ({ rule, status }: CheckResult): void => {
    if (isInteractive) process.stderr.write(`${status} ${rule.id}\n`);
  };
  const subject = {
    ...(flags.class === undefined ? {} : { machineClass: await readClassFile(flags.class) }),
    ...(flags.secret === undefined ? {} : { secret: await readSecretFile(flags.secret) }),
  };
  const loaded = flags.fixture === undefined ? undefined : await loadFixture(flags.fixture);
  const ofFlags = await fixtureOfFlags(flags, Object.keys(suite.cloudTraits), subject);
  const report = await suite.runConformance({
    ...subject,
    fixture: async () => ({ ...(await loaded?.()), ...ofFlags }),
    ...(provider === undefined
      ? {}
      : {
          driver: await load(provider),
          ...(isAddress(provider)
            ? {}
            : await runtime.describeDriverFiles(fileURLToPath(runtime.locateDriver(provider)))),
        }),
    ...(flags.only === undefined ? {} : { only: flags.only }),
    ...(flags.maxVms === undefined ? {} : { maxVms: flags.maxVms }),
    ...(flags.maxCreations === undefined ? {} : { maxCreations: flags.maxCreations }),
    profile: flags.profile,
    signal,
    onResult,
  });
  const text =
    flags.output === "table"
      ? suite.reportTable(report)
      : flags.output === "junit"
        ? suite.reportJunit(report)
        : `${JSON.stringify(suite.reportJson(report), undefined, 2)}\n`;
  return { text, passed: suite.isPassed(report) };
}

/** Checks a driver and prints the report; resolves with the exit status. */
export async function conformance(flags: ConformanceFlags): Promise<number> {
  const drivers = createCommandDrivers(flags);
  const { signal, leave } = untilStopped();
  try {
    const { text, passed } = await run(flags, drivers.load, signal);
    if (flags.report === undefined) process.stdout.write(text);
    else await writeFile(flags.report, text);
    return passed ? 0 : 1;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    process.stderr.write(`millwright: ${plain(error.message)}\n`);
    return 2;
  } finally {
    leave();
    await drivers.close();
  }
}
