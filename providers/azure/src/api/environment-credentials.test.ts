import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInstanceMetadata, type ManagedIdentity } from "@millwright/emulators/arm";
import { refuse } from "@millwright/emulators/server";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createAzureDriver } from "../driver.ts";
import { aCloud, aContext, aMachine, aRequest, failureOf, plainSecret } from "../testing/azure-cloud.ts";

/** A class secret that leaves the identity to the environment. */
const environmentSecret = { useDefaultCredentialChain: "true", subscriptionID: "sub-1", userData: "boot" };

const ofEnvironment = (more: Readonly<Record<string, string>> = {}) =>
  aRequest(aMachine("m"), {}, { ...environmentSecret, ...more });

const variables = [
  "AZURE_TENANT_ID",
  "AZURE_CLIENT_ID",
  "AZURE_FEDERATED_TOKEN_FILE",
  "AZURE_POD_IDENTITY_AUTHORITY_HOST",
  "IDENTITY_ENDPOINT",
  "IDENTITY_HEADER",
  "MSI_ENDPOINT",
];
beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

const applications = {
  system: { tenant: "tenant", subscriptions: ["sub-1"] },
  user: { tenant: "tenant", subscriptions: ["sub-1"] },
  stranger: { tenant: "tenant", subscriptions: [] },
};

/** The port of all metadata endpoints: the SDK keeps the first address for the life of the process. */
let metadataPort = 0;

/** A cloud, and the metadata endpoint of the machine that the driver runs on. */
async function aMachineWith(identities: readonly ManagedIdentity[]) {
  const cloud = await aCloud({ applications });
  const metadata = createInstanceMetadata(cloud.arm.world, identities);
  onTestFinished(() => metadata.close());
  const { url } = await metadata.listen({ port: metadataPort });
  metadataPort = Number(new URL(url).port);
  vi.stubEnv("AZURE_POD_IDENTITY_AUTHORITY_HOST", url);
  return { ...cloud, metadata };
}

/** An address that refuses connections. */
const closedPort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0));
    });
  });

describe("a managed identity", () => {
  it("of the machine gets the tokens: no application is named, and no secret kept", async () => {
    const { arm, driver, metadata } = await aMachineWith([{ clientId: "system", isDefault: true }]);
    await driver.createMachine(ofEnvironment(), aContext());
    await driver.deleteMachine(ofEnvironment(), aContext());
    expect(arm.log.count("Token")).toBe(0);
    expect(metadata.log.requests.every(({ path }) => !path.includes("client_id"))).toBe(true);
    expect(new Set(arm.log.requests.map(({ account }) => account))).toEqual(new Set(["system"]));
  });

  it.each([
    ["clientID of the secret", { clientID: "user" }, undefined],
    ["AZURE_CLIENT_ID", {}, "user"],
    ["clientID of the secret rather than by AZURE_CLIENT_ID", { clientID: "user" }, "stranger"],
  ])("among several is named by %s", async (_, more, clientId) => {
    const { arm, driver } = await aMachineWith([{ clientId: "stranger", isDefault: true }, { clientId: "user" }]);
    vi.stubEnv("AZURE_CLIENT_ID", clientId);
    await driver.createMachine(ofEnvironment(more), aContext());
    expect(new Set(arm.log.requests.map(({ account }) => account))).toEqual(new Set(["user"]));
  });

  it("that the machine does not have is Unauthenticated, and the message names the remedy", async () => {
    const { driver } = await aMachineWith([{ clientId: "system", isDefault: true }]);
    expect(await failureOf(driver.getMachineStatus(ofEnvironment({ clientID: "other" }), aContext()))).toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/looking for the VM: the managed identity endpoint has no such identity: assign/),
    });
  });

  it("that may do nothing is PermissionDenied", async () => {
    const { driver } = await aMachineWith([{ clientId: "stranger", isDefault: true }]);
    await expect(driver.getMachineStatus(ofEnvironment(), aContext())).rejects.toMatchObject({
      code: "PermissionDenied",
    });
  });

  it("whose endpoint fails or is unreachable is Unavailable, and it is named", async () => {
    const { driver, metadata } = await aMachineWith([{ clientId: "system", isDefault: true }]);
    metadata.faults.add({ operation: "*", times: 99, end: refuse("unknown", { status: 500 }) });
    await expect(driver.getMachineStatus(ofEnvironment(), aContext())).rejects.toMatchObject({
      code: "Unavailable",
      message: expect.stringContaining("the managed identity endpoint of this machine"),
    });
    await metadata.close();
    const { arm, url } = await aCloud();
    const elsewhere = createAzureDriver({ endpoint: url, ca: arm.ca });
    expect(await failureOf(elsewhere.getMachineStatus(ofEnvironment(), aContext()))).toMatchObject({
      code: "Unavailable",
      message: expect.stringMatching(
        /the managed identity endpoint of this machine is unreachable.*set AZURE_FEDERATED_TOKEN_FILE/,
      ),
    });
    expect(arm.log.requests).toEqual([]);
  });
});

describe("a workload identity of the environment", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millwright-azure-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const federated = { workload: { tenant: "tenant", assertion: "good-token" } };

  /** What the webhook of Azure Workload Identity sets in a pod. */
  async function aPod(token: string): Promise<string> {
    const file = join(folder, "azure-identity-token");
    await writeFile(file, token);
    vi.stubEnv("AZURE_FEDERATED_TOKEN_FILE", file);
    vi.stubEnv("AZURE_CLIENT_ID", "workload");
    vi.stubEnv("AZURE_TENANT_ID", "tenant");
    return file;
  }

  it("exchanges the token of the service account, and takes the new one when it was rotated", async () => {
    const { arm, driver } = await aCloud({ applications: federated });
    await aPod("good-token");
    await driver.createMachine(ofEnvironment(), aContext());
    const exchange = arm.log.requests.find(({ operation }) => operation === "Token");
    expect(exchange?.path).toMatch(/^\/tenant\//);
    expect(new URLSearchParams(exchange?.body).get("client_assertion")).toBe("good-token");
    expect(new Set(arm.log.requests.flatMap(({ account = "" }) => (account === "" ? [] : [account])))).toEqual(
      new Set(["workload"]),
    );
  });

  it("has precedence over the identity of the machine, and the secret's ids over the environment's", async () => {
    const { arm, driver, metadata } = await aMachineWith([{ clientId: "system", isDefault: true }]);
    arm.world.applications?.set("of-secret", { tenant: "other-tenant", assertion: "good-token" });
    await aPod("good-token");
    await driver.createMachine(ofEnvironment({ clientID: "of-secret", tenantID: "other-tenant" }), aContext());
    expect(metadata.log.count()).toBe(0);
    expect(arm.inventory().vms).toHaveLength(1);
  });

  it.each([
    ["AZURE_CLIENT_ID", "clientID"],
    ["AZURE_TENANT_ID", "tenantID"],
  ])("without %s is Unauthenticated, and works as soon as the secret has the key %s", async (name, key) => {
    const { driver } = await aCloud({ applications: federated });
    await aPod("good-token");
    vi.stubEnv(name, undefined);
    expect(await failureOf(driver.getMachineStatus(ofEnvironment(), aContext()))).toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(new RegExp(`AZURE_FEDERATED_TOKEN_FILE is set without ${name}.*"${key}"`)),
    });
    const ids = { clientID: "workload", tenantID: "tenant" };
    await driver.createMachine(ofEnvironment(ids), aContext());
  });

  it("whose token is refused, or whose file is not there, is Unauthenticated", async () => {
    const { driver } = await aCloud({ applications: federated });
    const file = await aPod("expired-token");
    await expect(driver.getMachineStatus(ofEnvironment(), aContext())).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringMatching(/AADSTS700024.*useDefaultCredentialChain/),
    });
    await rm(file);
    const { driver: another } = await aCloud({ applications: federated });
    await expect(another.getMachineStatus(ofEnvironment(), aContext())).rejects.toMatchObject({
      code: "Unauthenticated",
      message: expect.stringContaining("AZURE_FEDERATED_TOKEN_FILE, names cannot be read"),
    });
  });
});

describe("a token server that is unreachable", () => {
  it("is named as such, not as Azure", async () => {
    const port = await closedPort();
    const driver = createAzureDriver({ endpoint: `https://127.0.0.1:${port}` });
    const request = aRequest(aMachine("m"), {}, plainSecret);
    expect(await failureOf(driver.getMachineStatus(request, aContext()))).toMatchObject({
      code: "Unavailable",
      message: `looking for the VM: the token server of Entra ID (127.0.0.1:${port}) is unreachable (ECONNREFUSED)`,
    });
  });
});
