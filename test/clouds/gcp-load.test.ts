import { systemRandom } from "@millwright/base";
import { aContext, createVirtualClock, secretOf, type VirtualClock } from "@millwright/core/testing";
import { createGceEmulator, type GceEmulator, type GceEmulatorOptions } from "@millwright/emulators/gce";
import { createGcpDriver, gcpSpecSchema, type GcpSpec, type PollTimes } from "@millwright/provider-gcp";
import { expect, it, onTestFinished } from "vitest";
import type { RequestLog } from "@millwright/emulators/server";
import { closeEmulator } from "./close-emulator.ts";
import { aServiceAccount, gceSpec } from "./gce-cloud.ts";
import { describeLoad, type LoadedCloud, loadRequests } from "./load-scenario.ts";

const bounds = {
  create: "instances.insert",
  lookups: ["instances.get", "instances.list"],
  creationLookups: 100,
  deletionLookups: 50,
  // A fraction of them are polls of operations.
  creationRequests: 320,
  inFlight: 20,
  connections: 25,
};
const account = aServiceAccount("machines");
const spec = gcpSpecSchema.parse(gceSpec);
const secret = secretOf({ ...account.secret, userData: "boot" });

async function openGce(
  options: GceEmulatorOptions,
  pollTimes: Partial<PollTimes> = { lookAgainMs: 30, pollMs: 10 },
): Promise<LoadedCloud<GcpSpec> & { readonly gce: GceEmulator }> {
  const gce = createGceEmulator({ ...options, serviceAccounts: { [account.email]: account.publicKey } });
  const { url } = await gce.listen();
  return {
    gce,
    driver: createGcpDriver({
      endpoint: url,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
      // By the clock of the driver, which may run fast.
      requestTimeoutMs: 3_600_000,
      // Without jitter requests are retried at once.
      random: { ...systemRandom, next: () => 0 },
      pollTimes,
    }),
    log: gce.log,
    faults: gce.faults,
    request: loadRequests(spec, secret),
    vms: () => gce.inventory().instances.length,
    things: () => Object.values(gce.inventory()).flat(),
    close: () => closeEmulator(gce),
  };
}

describeLoad("Compute Engine", bounds, ({ latencyMs = 0, waitMs = 0, ...pace }) =>
  openGce({
    ...pace,
    latencyMs,
    operationMs: waitMs,
    provisioningMs: waitMs,
  }),
);

it("a response of 100 MiB is aborted before it is complete", async () => {
  const { gce, driver, request, close } = await openGce({});
  onTestFinished(close);
  const reply = { status: 200, body: " ".repeat(100 * 1024 * 1024) };
  gce.faults.add({ operation: "instances.get", end: { kind: "reply", reply } });
  await expect(driver.getMachineStatus(request("m"), aContext())).rejects.toMatchObject({
    code: "Unavailable",
    message: expect.stringContaining("more than 67108864 bytes"),
  });
});

/** The step by which {@link play} advances the clock, milliseconds: timers in between fire that much late. */
const stepMs = 100;

/** Advances the clock of a cloud whenever it is idle, until `isOver`. */
async function play(clock: VirtualClock, log: RequestLog, isOver: () => boolean): Promise<void> {
  const activity = (): string => `${log.count()} ${log.requests.filter(({ end }) => end !== undefined).length}`;
  while (!isOver()) {
    for (let before = ""; before !== activity();) {
      before = activity();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await clock.advance(stepMs);
  }
}

it("500 concurrent creations that wait 30 s each for Compute Engine complete within 90 s", async () => {
  const clock = createVirtualClock({ now: new Date() });
  const { gce, driver, request, log, close } = await openGce(
    { clock, operationMs: 30_000, provisioningMs: 10_000, latencyMs: 200 },
    {},
  );
  onTestFinished(close);
  const endsMs: number[] = [];
  const creations = Array.from({ length: 500 }, async (_, index) => {
    await driver.createMachine(request(`m-${index}`), { ...aContext(), clock });
    endsMs.push(clock.monotonicMs());
  });
  await play(clock, log, () => endsMs.length === 500);
  await Promise.all(creations);
  expect(gce.inventory().instances).toHaveLength(500);
  expect(Math.max(...endsMs)).toBeLessThanOrEqual(90_000);
  expect(log.count("instances.insert")).toBe(500);
  // They are polled together, and not one by one.
  expect(log.count("zoneOperations.list") + log.count("zoneOperations.get")).toBeLessThan(200);
  expect(log.peakInFlight).toBeLessThanOrEqual(20);
});
