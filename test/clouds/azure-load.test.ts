import { systemRandom } from "@millwright/base";
import { secretOf } from "@millwright/core/testing";
import { createArmEmulator } from "@millwright/emulators/arm";
import { azureSpecSchema, createAzureDriver } from "@millwright/provider-azure";
import { closeEmulator } from "./close-emulator.ts";
import { armIdentity, armSpec } from "./arm-cloud.ts";
import { describeLoad, loadRequests } from "./load-scenario.ts";

const bounds = {
  create: "VirtualMachines_CreateOrUpdate",
  lookups: ["VirtualMachines_List", "NetworkInterfaces_List", "Disks_ListByResourceGroup"],
  // Polls of operations are lists, too: a few for each tick of 200 ms, for any number of waiting calls.
  creationLookups: 300,
  deletionLookups: 300,
  // The interface and the VM, and the lists.
  creationRequests: 200 * 2 + 320,
  inFlight: 20,
  connections: 25,
};
// The key is created once, because that takes time.
const linuxConfiguration = { ssh: { publicKeys: { keyData: "ssh-rsa AAAA" } } };
const storageProfile = {
  imageReference: { id: "/subscriptions/sub-1/image" },
  osDisk: { createOption: "FromImage", diskSizeGB: 30 },
};
const spec = azureSpecSchema.parse(
  armSpec({ osProfile: { adminUsername: "core", linuxConfiguration }, storageProfile }),
);
const secret = secretOf({ ...armIdentity, clientSecret: "first-secret", userData: "boot" });

describeLoad("Azure", bounds, async ({ latencyMs = 0, waitMs = 0, ...pace }) => {
  const arm = createArmEmulator({
    ...pace,
    latencyMs,
    vmMs: waitMs,
    deleteMs: waitMs,
  });
  const { url } = await arm.listen();
  return {
    driver: createAzureDriver({
      endpoint: url,
      ...pace,
      // By the clock of the driver, which may run fast.
      requestTimeoutMs: 3_600_000,
      ca: arm.ca,
      // Without jitter the SDK retries at once.
      random: { ...systemRandom, next: () => 0 },
      pollMs: 200,
    }),
    log: arm.log,
    faults: arm.faults,
    request: loadRequests(spec, secret),
    vms: () => arm.inventory().vms.length,
    things: () => Object.values(arm.inventory()).flat(),
    close: () => closeEmulator(arm),
  };
});
