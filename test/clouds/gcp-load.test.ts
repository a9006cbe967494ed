import { systemRandom } from "@millwright/core";
import { aContext, secretOf } from "@millwright/core/testing";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "@millwright/emulators/gce";
import { createGcpDriver, gcpSpecSchema, type GcpSpec } from "@millwright/provider-gcp";
import { expect, it, onTestFinished } from "vitest";
import { closeEmulator } from "./close-emulator.ts";
import { aServiceAccount, gceSpec } from "./gce-cloud.ts";
import { describeLoad, type LoadedCloud, loadRequests } from "./load-scenario.ts";

const bounds = {
  create: "instances.insert",
  lookups: ["instances.get", "instances.list"],
  throttled: "rateLimitExceeded",
  creationLookups: 100,
  deletionLookups: 50,
  // Of each operation one waits until it is done, as a rule.
  creationRequests: 520,
  // And 50 that wait.
  inFlight: 70,
  connections: 75,
};
const account = aServiceAccount("machines");
const spec = gcpSpecSchema.parse(gceSpec);
const secret = secretOf({ ...account.secret, userData: "boot" });

async function openGce(options: GceEmulatorOptions): Promise<LoadedCloud<GcpSpec> & { readonly gce: GceEmulator }> {
  const gce = createGceEmulator({ ...options, serviceAccounts: { [account.email]: account.publicKey } });
  const { url } = await gce.listen();
  return {
    gce,
    driver: createGcpDriver({
      endpoint: url,
      // Without jitter requests are repeated at once.
      random: { ...systemRandom, next: () => 0 },
      patience: { lookAgainMs: 30, pollMs: 10 },
    }),
    log: gce.log,
    faults: gce.faults,
    request: loadRequests(spec, secret),
    vms: () => gce.inventory().instances.length,
    things: () => Object.values(gce.inventory()).flat(),
    close: () => closeEmulator(gce),
  };
}

describeLoad("Compute Engine", bounds, ({ latencyMs = 0, waitMs = 0 }) =>
  openGce({
    latencyMs,
    operationMs: waitMs,
    provisioningMs: waitMs,
  }),
);

it("an answer of 100 MiB is given up before it is all there", async () => {
  const { gce, driver, request, close } = await openGce({});
  onTestFinished(close);
  const reply = { status: 200, body: " ".repeat(100 * 1024 * 1024) };
  gce.faults.add({ operation: "instances.get", end: { kind: "reply", reply } });
  await expect(driver.getMachineStatus(request("m"), aContext())).rejects.toMatchObject({
    code: "Unavailable",
    message: expect.stringContaining("more than 67108864 bytes"),
  });
});
