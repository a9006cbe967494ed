import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type CreateMachineRequest,
  type Driver,
  type DriverContext,
  type MachineIdentity,
  Secret,
  systemRandom,
} from "@millwright/core";
import { aContext, aMachine, createSkippingClock, secretOf, withoutPending } from "@millwright/core/testing";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "@millwright/emulators/gce";
import { expect, onTestFinished } from "vitest";
import { sdkClients } from "../api/sdk-clients.ts";
import { createGcpDriver, type GcpDriverOptions } from "../driver.ts";
import { type GcpSpec, gcpSpecSchema } from "../spec/spec.ts";

export { aContext, aMachine, failureOf } from "@millwright/core/testing";

// Loading the SDK takes seconds of the processor, and many more on a busy computer: they are not those of the test that comes first.
await sdkClients();

/** A `providerSpec` with nothing but what is required. */
export const plainSpec = {
  region: "europe-west1",
  zone: "europe-west1-b",
  machineType: "n2-standard-2",
  disks: [{ boot: true, type: "pd-balanced", sizeGb: 50, image: "projects/images/global/images/node-1" }],
  networkInterfaces: [{ subnetwork: "nodes", disableExternalIP: true }],
  scheduling: { onHostMaintenance: "MIGRATE", automaticRestart: true },
  tags: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-node"],
} as const;

/** The scheduling of spot VMs. */
export const spotScheduling = { provisioningModel: "SPOT", onHostMaintenance: "TERMINATE" } as const;

const newKeys = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
const keys = newKeys();
const otherKeys = newKeys();

/** Service accounts that the emulator may know, and their public keys. */
export const serviceAccounts = {
  "machines@my-project.iam.gserviceaccount.com": keys.publicKey,
  "others@my-project.iam.gserviceaccount.com": otherKeys.publicKey,
} as const;

/** The fields of a service account. */
export const plainAccount = {
  type: "service_account",
  project_id: "my-project",
  private_key_id: "key-1",
  private_key: keys.privateKey,
  client_email: "machines@my-project.iam.gserviceaccount.com",
  client_id: "1",
  auth_uri: "https://accounts.google.com/o/oauth2/auth",
  token_uri: "https://oauth2.googleapis.com/token",
  auth_provider_x509_cert_url: "https://www.googleapis.com/oauth2/v1/certs",
  client_x509_cert_url: "https://www.googleapis.com/robot/v1/metadata/x509/machines",
  universe_domain: "googleapis.com",
} as const;

/** The fields of another one, with a key of its own. */
export const otherAccount = {
  ...plainAccount,
  private_key: otherKeys.privateKey,
  client_email: "others@my-project.iam.gserviceaccount.com",
} as const;

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** The permissions of a role that the README has as YAML. */
function roleTitled(title: string): readonly string[] {
  const [, role = ""] = readme.split(`title: ${title}\n`);
  const [list = ""] = role.split("```");
  return [...list.matchAll(/^ {2}- (compute\.\S+)$/gm)].map(([, permission = ""]) => permission);
}

/** The role of the driver in the README. */
export const roleOfReadme = roleTitled("Millwright machines");

/** The additional permissions for the checks of classes in the README. */
export const doctorRoleOfReadme = roleTitled("Millwright doctor");

/** A class secret with such credentials. */
export const secretWith = (credentials: object): Readonly<Record<string, string>> => ({
  serviceAccountJSON: JSON.stringify(credentials),
  userData: "#!/bin/sh\necho hello",
});

/** A class secret. */
export const plainSecret: Readonly<Record<string, string>> = secretWith(plainAccount);

/** A request to make a machine; it also serves for every other method. */
export function aRequest(
  machine: MachineIdentity = aMachine("m"),
  spec: Readonly<Record<string, unknown>> = {},
  secret: Readonly<Record<string, string>> = plainSecret,
): CreateMachineRequest<GcpSpec> {
  return {
    machine,
    machineClass: { name: "pool", spec: gcpSpecSchema.parse({ ...plainSpec, ...spec }) },
    secret: secretOf(secret),
    idempotencyToken: `token-of-${machine.uid}`,
    userData: Secret.of("#!/bin/sh\necho hello"),
  };
}

/** Looks for a machine with other credentials. */
export const statusWith = (driver: Driver<GcpSpec>, secret: Readonly<Record<string, string>>) =>
  driver.getMachineStatus(aRequest(aMachine("m"), {}, secret), aContext());

/** A cloud in which nothing that takes time comes to its end before the clock is put forward. */
export async function aSlowCloud(options: GceEmulatorOptions = {}) {
  const clock = createSkippingClock();
  const cloud = await aCloud({
    clock,
    operationMs: 60_000,
    provisioningMs: 30_000,
    stagingMs: 10_000,
    stoppingMs: 60_000,
    ...options,
  });
  const { gce } = cloud;
  return {
    ...cloud,
    clock,
    /** Makes a call, and gives it up once it waits for an operation. */
    async abortWaiting(call: (context: DriverContext) => Promise<unknown>): Promise<unknown> {
      const deadline = new AbortController();
      const outcome = call(aContext(deadline.signal)).catch((error: unknown) => error);
      const waits = gce.log.count("zoneOperations.get");
      await expect.poll(() => gce.log.count("zoneOperations.get")).toBeGreaterThan(waits);
      deadline.abort(new DOMException("too late", "TimeoutError"));
      return outcome;
    },
  };
}

/**
 * An emulated Compute Engine and the driver against it over TCP. The driver may do what the role in the README allows, and nothing else. Both end with the test; what the emulator itself threw
 * fails it.
 */
export async function aCloud(emulatorOptions: GceEmulatorOptions = {}, driverOptions: GcpDriverOptions = {}) {
  const gce = createGceEmulator({ permissions: roleOfReadme, ...emulatorOptions });
  const { url } = await gce.listen();
  onTestFinished(() => closeCloud(gce));
  const driver = withoutPending(
    createGcpDriver({
      endpoint: url,
      // Without jitter requests are repeated at once: tests do not wait.
      random: { ...systemRandom, next: () => 0 },
      ...driverOptions,
      pollTimes: { lookAgainMs: 30, pollMs: 10, ...driverOptions.pollTimes },
    }),
  );
  return { gce, url, driver };
}

async function closeCloud(gce: GceEmulator): Promise<void> {
  await gce.close();
  if (gce.failures.length > 0) throw new Error("the emulator failed", { cause: gce.failures[0] });
}

/** The body of the only request of an operation. */
export function sentBody(gce: GceEmulator, operation: string): unknown {
  const request = gce.log.requests.find((entry) => entry.operation === operation);
  return JSON.parse(request?.body ?? "null");
}
