import { ComputeManagementClient, type VirtualMachine } from "@azure/arm-compute";
import { MarketplaceOrderingAgreements } from "@azure/arm-marketplaceordering";
import { type NetworkInterface, NetworkManagementClient } from "@azure/arm-network";
import { ClientSecretCredential } from "@azure/identity";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { onTestFinished } from "vitest";
import { type ArmEmulatorOptions, createArmEmulator } from "../index.ts";

/** The subscription of the clients. */
export const subscription = "sub-1";

/** The unmodified SDKs, and a cloud for them that ends with the test. The emulator's own errors fail the test. */
export async function anArm(options: ArmEmulatorOptions = {}, secret = "good") {
  const emulator = createArmEmulator(options);
  onTestFinished(async () => {
    await emulator.close();
    if (emulator.failures.length > 0) throw new Error("the emulator failed", { cause: emulator.failures[0] });
  });
  const { url } = await emulator.listen();
  const tlsOptions = { ca: emulator.ca };
  const credential = new ClientSecretCredential("tenant", "client", secret, {
    authorityHost: url,
    disableInstanceDiscovery: true,
    tlsOptions,
  });
  const clientOptions = { endpoint: url, tlsOptions, retryOptions: { maxRetries: 0 } };
  const compute = new ComputeManagementClient(credential, subscription, clientOptions);
  const network = new NetworkManagementClient(credential, subscription, clientOptions);
  const marketplace = new MarketplaceOrderingAgreements(credential, subscription, clientOptions);
  const putNic = (name: string) =>
    network.networkInterfaces.createOrUpdate("shoot", name, aNic(), { updateIntervalInMs: 5 });
  const putVm = async (name: string, change: Partial<VirtualMachine> = {}, more: object = {}) => {
    await putNic(`${name}-nic`);
    return compute.virtualMachines.createOrUpdate(
      "shoot",
      name,
      { ...aVm(name), ...change },
      { updateIntervalInMs: 5, ...more },
    );
  };
  return { emulator, url, compute, network, marketplace, putNic, putVm };
}

/** The id of a resource in the group `shoot`. */
export const idOf = (type: string, name: string): string =>
  `/subscriptions/${subscription}/resourceGroups/shoot/providers/${type}/${name}`;

/** A NIC in the one subnet. */
export const aNic = (): NetworkInterface => ({
  location: "westeurope",
  enableIPForwarding: true,
  nicType: "Standard",
  ipConfigurations: [
    {
      name: "ip",
      privateIPAllocationMethod: "Dynamic",
      subnet: { id: idOf("Microsoft.Network/virtualNetworks", "vnet/subnets/nodes") },
    },
  ],
});

const aVm = (name: string): VirtualMachine => ({
  location: "westeurope",
  tags: { "kubernetes.io-cluster-shoot": "1" },
  zones: ["1"],
  hardwareProfile: { vmSize: "Standard_D2s_v5" },
  storageProfile: {
    imageReference: { publisher: "canonical", offer: "ubuntu", sku: "24_04", version: "latest" },
    osDisk: { name: `${name}-os-disk`, createOption: "FromImage", diskSizeGB: 30, deleteOption: "Delete" },
    dataDisks: [{ lun: 0, name: `${name}-0-data-disk`, createOption: "Empty", diskSizeGB: 5, deleteOption: "Delete" }],
  },
  osProfile: { computerName: name, adminUsername: "core", customData: "aGVsbG8=", linuxConfiguration: {} },
  networkProfile: {
    networkInterfaces: [
      { id: idOf("Microsoft.Network/networkInterfaces", `${name}-nic`), primary: true, deleteOption: "Delete" },
    ],
  },
});

/** A plain request without the SDKs. */
export const send = (
  ca: string,
  method: string,
  url: string,
  body?: object,
): Promise<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: unknown }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer any", "content-type": "application/json" };
    const sent = request(url, { method, agent: new Agent({ ca }), headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text === "" ? undefined : JSON.parse(text),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
