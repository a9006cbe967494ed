import type { CloudEndpoint, ConformanceFixture, ProviderClass, SecretValues } from "@millwright/conformance";
import { ConfigError, nearestName } from "@millwright/base";
import { inventoryOf } from "./inventory-command.ts";
import { readClassFile, readSecretFile } from "./read-manifests.ts";

/** Flags that give parts of a fixture, for drivers that have no module of one. */
export interface FixtureFlags {
  readonly otherClass?: string;
  readonly otherClusterClass?: string;
  readonly pendingClass?: string;
  readonly missingReferenceClass?: readonly string[];
  readonly rejectedSecret?: string;
  readonly publicSecretKey?: readonly string[];
  readonly endpoint?: string;
  readonly inventory?: string;
  readonly pageSize?: number;
  readonly lacks?: readonly string[];
}

/** What the flags name beside the parts of a fixture. */
export interface FlagSubject {
  readonly machineClass?: ProviderClass;
  readonly secret?: SecretValues;
}

/** `PROPERTY=REASON` of `--lacks`. */
function readLacks(lacks: readonly string[], traits: readonly string[]): NonNullable<ConformanceFixture["lacks"]> {
  const entries = lacks.map((text) => {
    const [name = "", ...rest] = text.split("=");
    const reason = rest.join("=");
    if (!traits.includes(name)) {
      const near = nearestName(name, traits);
      const remedy = near === undefined ? `use one of ${traits.join(", ")}` : `did you mean ${near}?`;
      throw new ConfigError(`--lacks ${text}: a cloud has no property "${name}"; ${remedy}`);
    }
    if (reason === "") throw new ConfigError(`--lacks ${text}: the reason is missing; write ${name}=REASON`);
    return [name, reason] as const;
  });
  return Object.fromEntries(entries);
}

/** Puts another URL wherever class and Secret name that of the cloud. */
function endpointOf(url: string, { machineClass, secret }: FlagSubject): CloudEndpoint {
  if (!URL.canParse(url)) throw new ConfigError(`--endpoint ${url}: expected a URL such as http://127.0.0.1:7070`);
  const text = JSON.stringify({ machineClass, secret });
  if (!text.includes(url))
    throw new ConfigError(
      `--endpoint ${url}: neither --class nor --secret contains it; write it there as in this flag`,
    );
  return { url, through: (other) => JSON.parse(text.replaceAll(url, other)) };
}

/**
 * The parts of a fixture that flags give.
 *
 * @throws ConfigError for a file, command or value that cannot be used
 */
export async function fixtureOfFlags(
  flags: FixtureFlags,
  traits: readonly string[],
  subject: FlagSubject,
): Promise<ConformanceFixture> {
  const { otherClass, otherClusterClass, pendingClass, missingReferenceClass, rejectedSecret } = flags;
  const missing = await Promise.all((missingReferenceClass ?? []).map(readClassFile));
  return {
    ...(otherClass === undefined ? {} : { otherClass: await readClassFile(otherClass) }),
    ...(otherClusterClass === undefined ? {} : { otherClusterClass: await readClassFile(otherClusterClass) }),
    ...(pendingClass === undefined ? {} : { pendingClass: await readClassFile(pendingClass) }),
    ...(missing.length === 0
      ? {}
      : { missingReferences: Object.fromEntries(missing.map((each) => [each.name, each])) }),
    ...(rejectedSecret === undefined ? {} : { rejectedSecret: await readSecretFile(rejectedSecret) }),
    ...(flags.publicSecretKey === undefined ? {} : { publicSecretKeys: flags.publicSecretKey }),
    ...(flags.endpoint === undefined ? {} : { endpoint: endpointOf(flags.endpoint, subject) }),
    ...(flags.inventory === undefined ? {} : await inventoryOf(flags.inventory)),
    ...(flags.pageSize === undefined ? {} : { pageSize: flags.pageSize }),
    ...(flags.lacks === undefined ? {} : { lacks: readLacks(flags.lacks, traits) }),
  };
}
