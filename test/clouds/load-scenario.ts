import { type Clock, Secret, type SecretData } from "@millwright/base";
import type { CreateMachineRequest, Driver } from "@millwright/core";
import { aContext, aMachine, createFastClock, withoutPending } from "@millwright/core/testing";
import type { FaultPlan, RequestLog, Throttle } from "@millwright/emulators/server";
import { describe, expect, it, onTestFinished } from "vitest";

/** Settings of the cloud of a test. */
export interface LoadOptions {
  /** Of the cloud and the driver. Default: the system's. */
  readonly clock?: Clock;
  /** Absent: no rate limit. */
  readonly throttle?: Throttle;
  /** Duration of every request, and of the creation or deletion of a VM, milliseconds. Default 0. */
  readonly latencyMs?: number;
  readonly waitMs?: number;
}

/** An emulated cloud, and the driver on it in this process. */
export interface LoadedCloud<Spec> {
  readonly driver: Driver<Spec>;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** The driver request for the machine of that name. */
  request(name: string): CreateMachineRequest<Spec>;
  /** Existing VMs. */
  vms(): number;
  /** All remaining resources. */
  things(): readonly unknown[];
  /** Stops it. Fails with the emulator's own errors. */
  close(): Promise<void>;
}

/** Limits of a driver's requests. Counts, never durations, which depend on the computer. */
export interface LoadBounds {
  /** The operation that creates a VM, and those that look up VMs and their resources. */
  readonly create: string;
  readonly lookups: readonly string[];
  /** Lookups for 200 creations at once, and for 200 deletions. */
  readonly creationLookups: number;
  readonly deletionLookups: number;
  /** All requests for 200 creations. */
  readonly creationRequests: number;
  readonly inFlight: number;
  readonly connections: number;
}

/** Driver requests for machines of one class, by name. */
export const loadRequests =
  <Spec>(spec: Spec, secret: SecretData): LoadedCloud<Spec>["request"] =>
  (name) => ({
    machine: aMachine(name),
    machineClass: { name: "pool", spec },
    secret,
    idempotencyToken: `token-of-${name}`,
    userData: Secret.of("boot"),
  });

const names = Array.from({ length: 200 }, (_, index) => `m-${index}`);

/** Many machines at once: shared by the drivers of all clouds. */
export function describeLoad<Spec>(
  name: string,
  bounds: LoadBounds,
  openCloud: (options: LoadOptions) => Promise<LoadedCloud<Spec>>,
): void {
  // The timeout only catches hangs.
  describe(`many machines at once on ${name}`, { timeout: 180_000 }, () => {
    const open = async (options: LoadOptions = {}): Promise<LoadedCloud<Spec>> => {
      const cloud = await openCloud(options);
      onTestFinished(() => cloud.close());
      return cloud;
    };
    const lookups = ({ log }: LoadedCloud<Spec>): number =>
      bounds.lookups.reduce((sum, operation) => sum + log.count(operation), 0);
    const createAll = ({ driver, request }: LoadedCloud<Spec>) =>
      Promise.all(names.map((each) => withoutPending(driver).createMachine(request(each), aContext())));

    it("200 creations create 200 VMs with a bounded number of requests", async () => {
      const cloud = await open({ latencyMs: 5, waitMs: 100 });
      const made = await createAll(cloud);
      expect(new Set(made.map(({ providerId }) => providerId)).size).toBe(200);
      const { log } = cloud;
      expect([cloud.vms(), log.count(bounds.create)]).toEqual([200, 200]);
      // Single lookups, before and after, would be more than 400 requests.
      expect(lookups(cloud)).toBeLessThan(bounds.creationLookups);
      expect(log.count()).toBeLessThan(bounds.creationRequests);
      expect(log.peakInFlight).toBeLessThanOrEqual(bounds.inFlight);
      expect(log.connections).toBeLessThanOrEqual(bounds.connections);
    });

    // Time runs twenty times as fast, for the driver and for the rate limit.
    // A rate that the work does not stay below on a busy computer.
    it.each([
      [80, 1],
      [500, 2],
    ])("%i creations that the cloud throttles all succeed, with few requests in vain", async (count, perSecond) => {
      const clock = createFastClock(20);
      const throttle = { burst: 5, perSecond, operations: [bounds.create] };
      const cloud = await open({ clock, throttle, latencyMs: 20, waitMs: 100 });
      const { driver, log, request } = cloud;
      // Longer than any call takes: on a busy computer the fast clock is far ahead of the work.
      const context = { ...aContext(undefined, 7_200_000), clock };
      const create = (index: number) => withoutPending(driver).createMachine(request(`m-${index}`), context);
      await Promise.all(Array.from({ length: count }, (_, index) => create(index)));
      expect(cloud.vms()).toBe(count);
      // The first 20 are in flight before the cloud throttles one.
      expect(log.count(bounds.create)).toBeGreaterThan(count);
      expect(log.count(bounds.create)).toBeLessThanOrEqual(20 + 1.2 * count);
    });

    it("200 deletions leave no resources, and look up leftovers together", async () => {
      const cloud = await open({ waitMs: 100 });
      const { driver, log, request } = cloud;
      await createAll(cloud);
      log.clear();
      await Promise.all(names.map((each) => driver.deleteMachine(request(each), aContext())));
      expect(cloud.things()).toEqual([]);
      expect(lookups(cloud)).toBeLessThan(bounds.deletionLookups);
    });

    it("1000 sequential calls open no further connections", async () => {
      const { driver, log, request } = await open();
      await driver.createMachine(request("m"), aContext());
      const before = log.connections;
      for (let call = 0; call < 1_000; call++) {
        await driver.getMachineStatus(request("m"), aContext());
        log.clear();
      }
      expect(log.connections - before).toBeLessThanOrEqual(2);
    });
  });
}
