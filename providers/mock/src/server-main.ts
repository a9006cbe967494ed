#!/usr/bin/env node
import { inspect, parseArgs } from "node:util";
import { ConfigError, Secret, isConfigError, parseGoDuration, systemClock } from "@millwright/core";
import { createCloudServer } from "./cloud-server.ts";
import { createSimulatedCloud } from "./simulated-cloud.ts";
import { type SnapshotFile, keepSnapshot, readSnapshotFile } from "./snapshot-file.ts";

const usage = `millwright-mock-cloud: a simulated cloud as its own process.

  --port N             loopback port; 0, the default, takes a free one
  --data FILE          keeps the VMs in this file across restarts
  --boot-delay D       how long a VM boots, such as 5s (2s)
  --delete-delay D     how long a VM takes to be gone (1s)
  --latency D          how long every call takes (0s)
  --max-vms N          quota (none)
  --help               prints this

The environment variable MILLWRIGHT_MOCK_CLOUD_TOKEN sets a token that callers must send.
Prints one line of JSON, {"url":"http://127.0.0.1:PORT"}, when it is ready; SIGTERM and SIGINT stop it.
`;

const flags = {
  port: { type: "string" },
  data: { type: "string" },
  "boot-delay": { type: "string" },
  "delete-delay": { type: "string" },
  latency: { type: "string" },
  "max-vms": { type: "string" },
  help: { type: "boolean" },
} as const;

type Flags = { readonly [flag in keyof typeof flags]?: string | boolean | undefined };

async function main(): Promise<void> {
  const given = readFlags();
  if (given.help === true) {
    process.stdout.write(usage);
    return;
  }
  const token = process.env["MILLWRIGHT_MOCK_CLOUD_TOKEN"] ?? "";
  const port = wholeNumber(given, "port", 65_535) ?? 0;
  const file = typeof given.data === "string" ? given.data : undefined;
  const cloud = createSimulatedCloud({
    clock: systemClock,
    ...optional("bootDelayMs", duration(given, "boot-delay")),
    ...optional("deleteDelayMs", duration(given, "delete-delay")),
    ...optional("latencyMs", duration(given, "latency")),
    ...optional("maxVms", wholeNumber(given, "max-vms", Number.MAX_SAFE_INTEGER)),
    ...(file === undefined ? {} : optional("snapshot", await readSnapshotFile(file))),
  });
  const server = createCloudServer(cloud, token === "" ? {} : { token: Secret.of(token) });
  let kept: SnapshotFile | undefined;
  try {
    const { url } = await server.listen({ port });
    if (file !== undefined) kept = await keepSnapshot(cloud, file, systemClock, report);
    process.stdout.write(`${JSON.stringify({ url })}\n`);
    await new Promise<void>((resolve) => {
      process.once("SIGTERM", () => resolve());
      process.once("SIGINT", () => resolve());
    });
  } finally {
    await server.close();
    await kept?.close();
    cloud.close();
  }
}

function readFlags(): Flags {
  try {
    return parseArgs({ options: flags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)}; --help lists the flags`, {
      cause: error,
    });
  }
}

function duration(given: Flags, flag: keyof typeof flags): number | undefined {
  const text = given[flag];
  if (typeof text !== "string") return undefined;
  const ms = parseGoDuration(text);
  if (ms === undefined || ms < 0) {
    throw new ConfigError(`--${flag} must be a duration such as 500ms or 5s, not ${JSON.stringify(text)}`);
  }
  return ms;
}

function wholeNumber(given: Flags, flag: keyof typeof flags, most: number): number | undefined {
  const text = given[flag];
  if (typeof text !== "string") return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= most)) {
    throw new ConfigError(`--${flag} must be a whole number from 0 to ${most}, not ${JSON.stringify(text)}`);
  }
  return number;
}

/** An option that is only there when it has a value. */
function optional<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [key in Name]?: Value };
function optional(name: string, value: unknown): object {
  return value === undefined ? {} : { [name]: value };
}

try {
  await main();
} catch (error) {
  report(error);
  process.exitCode = 1;
}

/** One line for what a person can put right, a stack for what is a fault of ours. */
function report(error: unknown): void {
  const text = isConfigError(error) ? error.message : inspect(error);
  process.stderr.write(`millwright-mock-cloud: ${text}\n`);
}
