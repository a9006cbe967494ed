import { generateKeyPairSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "@millwright/emulators/gce";
import { aContext, secretOf, withoutPending } from "@millwright/core/testing";
import { createGcpDriver, gcpSpecSchema, ownerLabelKeys } from "@millwright/provider-gcp";
import { closeEmulator } from "./close-emulator.ts";
import type { CloudInstance } from "./cloud-controller-manager/cloud-instance.ts";
import { gceNode } from "./cloud-controller-manager/gcp.ts";
import { type CloudInstallation, type NodeOptions, startCloudInstallation } from "./cloud-installation.ts";
import type { StartLoopCloud } from "./machine-loop-scenario.ts";
import { requestFor, userData } from "./vm-cloud.ts";

/** `providerSpec` of the class `pool`. */
export const gceSpec = {
  region: "europe-west1",
  zone: "europe-west1-b",
  machineType: "n2-standard-2",
  disks: [{ boot: true, type: "pd-balanced", sizeGb: 50, image: "projects/images/global/images/node-1" }],
  networkInterfaces: [{ network: "shoot", subnetwork: "nodes", disableExternalIP: true }],
  scheduling: { onHostMaintenance: "MIGRATE", automaticRestart: true },
  tags: ["kubernetes-io-cluster-shoot", "kubernetes-io-role-node"],
};

/** A service account, and its entry in the emulator. */
export function aServiceAccount(name: string) {
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const email = `${name}@my-project.iam.gserviceaccount.com`;
  const json = {
    type: "service_account",
    project_id: "my-project",
    private_key: keys.privateKey,
    client_email: email,
    token_uri: "https://oauth2.googleapis.com/token",
  };
  return { email, publicKey: keys.publicKey, secret: { serviceAccountJSON: JSON.stringify(json) } };
}

const first = aServiceAccount("first");
const second = aServiceAccount("second");

/** The instances of an emulated Compute Engine that became nodes. */
export const gceNodes = (gce: GceEmulator): readonly CloudInstance[] =>
  gce
    .inventory()
    .instances.filter(({ status }) => status !== "PROVISIONING" && status !== "STAGING")
    .map(({ resource, status, ...instance }) =>
      gceNode({
        ...instance,
        machineType: resource.machineType.slice(resource.machineType.lastIndexOf("/") + 1),
        isRunning: status === "RUNNING",
      }),
    );

/** An installation on an emulated Compute Engine. */
export async function startOnGce(
  options: GceEmulatorOptions = {},
  spec: Readonly<Record<string, unknown>> = {},
  nodes: NodeOptions = {},
): Promise<{
  readonly gce: GceEmulator;
  readonly url: string;
  readonly installation: CloudInstallation;
  close(): Promise<void>;
}> {
  const gce = createGceEmulator({
    operationMs: 300,
    provisioningMs: 150,
    stagingMs: 100,
    stoppingMs: 100,
    latencyMs: 10,
    serviceAccounts: { [first.email]: first.publicKey },
    ...options,
  });
  const { url } = await gce.listen();
  const installation = await startCloudInstallation({
    provider: "GCP",
    driver: fileURLToPath(new URL("gcp-on-emulator.ts", import.meta.url)),
    providerSpec: { ...gceSpec, ...spec },
    secret: { ...first.secret, userData },
    env: { GCE_EMULATOR: url },
    instances: () => gceNodes(gce),
    nodes,
  });
  return {
    gce,
    url,
    installation,
    async close() {
      await installation.close();
      await closeEmulator(gce);
    },
  };
}

const newerImage = "projects/images/global/images/node-2";

const marks: readonly string[] = Object.values(ownerLabelKeys);

/** Labels without those that MCM's driver does not know. */
const withoutMarks = (labels: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([key]) => !marks.includes(key)));

/** Compute Engine for the machine loop. */
export const startGceLoop: StartLoopCloud = async ({ pace, market, nodes } = {}) => {
  const { gce, url, installation, close } = await startOnGce(
    pace === "slow" ? { latencyMs: 40, operationMs: 1_500, provisioningMs: 1_000, stagingMs: 400 } : {},
    market === "spot" ? { scheduling: { provisioningModel: "SPOT", onHostMaintenance: "TERMINATE" } } : {},
    nodes,
  );
  const driver = withoutPending(createGcpDriver({ endpoint: url }));
  return {
    installation,
    close,
    faults: gce.faults,
    words: { create: "instances.insert", serverError: "internalError", throttled: "rateLimitExceeded" },
    // And a disk.
    thingsPerVm: 2,
    newer: {
      providerSpec: { ...gceSpec, disks: gceSpec.disks.map((disk) => ({ ...disk, image: newerImage })) },
      image: newerImage,
    },
    vms: () =>
      gce.inventory().instances.map(({ id, name, resource }) => ({
        id,
        machine: name,
        image: resource.disks[0]?.initializeParams?.sourceImage ?? "",
        userData: resource.metadata.items?.find(({ key }) => key === "startup-script")?.value ?? "",
      })),
    launches: () => [...gce.world.operations.values()].filter(({ operationType }) => operationType === "insert").length,
    things: () => Object.values(gce.inventory()).flat(),
    async makeAsMcm(machine) {
      const secret = secretOf({ ...first.secret, userData });
      const made = await driver.createMachine(requestFor(machine, gcpSpecSchema.parse(gceSpec), secret), aContext());
      for (const [key, disk] of gce.world.disks) {
        if (disk.name.startsWith(machine)) gce.world.disks.set(key, { ...disk, labels: withoutMarks(disk.labels) });
      }
      for (const vm of gce.world.instances.values()) {
        if (vm.name === machine) vm.resource = { ...vm.resource, labels: withoutMarks(vm.resource.labels) };
      }
      return made;
    },
    foreignNode: { name: "other", providerId: "gce://other-project/europe-west1-b/other" },
    changeCredentials() {
      gce.world.serviceAccounts?.set(second.email, second.publicKey);
      gce.world.serviceAccounts?.delete(first.email);
      gce.world.accessTokens.clear();
      return second.secret;
    },
    reclaim: (machine) => gce.reclaim(machine),
  };
};
