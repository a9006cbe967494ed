import {
  type Driver,
  hasMachineErrorCode,
  isMachineError,
  type MachineError,
  type MachineErrorCode,
  type MachineIdentity,
} from "@millwright/core";
import type { FaultProxy } from "../proxy/fault-proxy.ts";
import type { RuleId } from "../rules/registry.ts";
import type { Caller } from "../session/caller.ts";
import type { ConformanceFixture, EndStage, SecretValues } from "../session/fixture.ts";
import { failed, skipped } from "../session/outcome.ts";
import type { Session } from "../session/session.ts";

/** The check of one rule. Resolves when the driver keeps the rule; throws `CheckEnd` otherwise. */
export type Check = (t: CheckContext) => Promise<void>;

/** Checks by the id of their rule. */
export type CheckTable = Readonly<Partial<Record<RuleId, Check>>>;

/** What a check works with. */
export interface CheckContext {
  readonly session: Session;
  readonly fixture: ConformanceFixture;
  /** Calls of the driver with its class and secret. */
  readonly caller: Caller;
  /** A machine that no other check uses. */
  machine(more?: Partial<MachineIdentity>): MachineIdentity;
  /** Another instance of the driver, as after a restart; the same one where the fixture creates none. */
  newDriver(): Promise<Driver>;
  /** A new instance of the driver behind the fault proxy. Skips the check where there is no endpoint. */
  behindProxy(): Promise<{ readonly caller: Caller; readonly proxy: FaultProxy }>;
  /** Ids of the VMs of a machine: from the cloud if the fixture shows it, else from the driver. */
  vmsOf(machine: MachineIdentity, caller?: Caller): Promise<readonly string[]>;
  /** Ids of all resources, from the cloud. Skips the check where the fixture does not show them. */
  resources(): Promise<readonly string[]>;
  /** Repeats a look until it returns undefined, or the cloud had its time; then fails with the last sentence. */
  eventually(problem: () => Promise<string | undefined>): Promise<void>;
  /** A part of the fixture. Skips the check where it is missing. */
  needs<T>(part: T | undefined, what: string): T;
  /** Ends this at the end of the check. */
  atEnd(end: EndStage): void;
}

/** Fails the check unless `condition` holds. */
export function expect(condition: boolean, message: string): asserts condition {
  if (!condition) throw failed(message);
}

/** A failed call in a message: its code and text. */
export const describeError = (error: unknown): string =>
  isMachineError(error)
    ? `${error.code}: ${error.message.slice(0, 300)}`
    : error instanceof Error
      ? `${error.name}: ${error.message.slice(0, 300)}`
      : String(error);

/** Fails the check unless a call fails with one of these codes; returns its error. */
export async function expectFailure(
  what: string,
  call: Promise<unknown>,
  ...codes: readonly MachineErrorCode[]
): Promise<MachineError> {
  let reply: unknown;
  try {
    reply = await call;
  } catch (error) {
    if (hasMachineErrorCode(error, ...codes)) return error;
    if (error instanceof Error && error.name === "CheckEnd") throw error;
    throw failed(`${what} must fail with ${codes.join(" or ")}, not with ${describeError(error)}`, error);
  }
  const text = JSON.stringify(reply)?.slice(0, 200) ?? String(reply);
  throw failed(`${what} must fail with ${codes.join(" or ")}; it succeeded with ${text}`);
}

/** The outcome of a call that may fail: its response, or its error. Ends of checks pass through. */
export async function outcomeOf<T>(
  call: Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (error instanceof Error && error.name === "CheckEnd") throw error;
    return { ok: false, error };
  }
}

const pollMs = 20;

/** Creates what a check works with, and `end`, which undoes what it staged. */
export function createCheckContext(session: Session, nextNumber: () => number) {
  const { fixture, caller, clock, profile, random } = session;
  const ends: EndStage[] = [];
  const needs = <T>(part: T | undefined, what: string): T => {
    if (part === undefined) throw skipped(`The fixture does not provide ${what}.`);
    return part;
  };
  const secretOf = (values: SecretValues) => session.protect({ userData: session.userData.reveal(), ...values });
  const newDriver = async (): Promise<Driver> => (await fixture.createDriver?.()) ?? caller.target.driver;
  const context: CheckContext = {
    session,
    fixture,
    caller,
    needs,
    newDriver,
    machine(more = {}) {
      if (session.created.size >= profile.maxVms) throw skipped(`It needs more than ${profile.maxVms} VMs at once.`);
      return { name: `${session.namePrefix}-${nextNumber()}`, namespace: "conformance", uid: random.uuid(), ...more };
    },
    async behindProxy() {
      const proxy = needs(await session.proxy(), "the endpoint of the cloud");
      const endpoint = needs(fixture.endpoint, "the endpoint of the cloud");
      proxy.plan();
      const { driver, machineClass, secret } = endpoint.through(proxy.url);
      return {
        proxy,
        caller: caller.with({
          driver: (await driver) ?? (await newDriver()),
          ...(machineClass === undefined ? {} : { machineClass }),
          ...(secret === undefined ? {} : { secret: secretOf(secret) }),
        }),
      };
    },
    async vmsOf(machine, of = caller) {
      if (fixture.inventory !== undefined) {
        const vms = await fixture.inventory();
        return vms.filter(({ machineName }) => machineName === machine.name).map(({ id }) => id);
      }
      if (of.target.driver.listMachines !== undefined) {
        const vms = await of.list();
        return vms.filter(({ machineName }) => machineName === machine.name).map(({ providerId }) => providerId);
      }
      const found = await outcomeOf(of.status(machine));
      if (found.ok) return [found.value.providerId];
      if (hasMachineErrorCode(found.error, "NotFound")) return [];
      throw found.error;
    },
    resources: async () => needs(fixture.resources, "the resources of the cloud")(),
    async eventually(problem) {
      const untilMs = clock.monotonicMs() + profile.settleMs;
      for (;;) {
        const found = await problem();
        if (found === undefined) return;
        if (clock.monotonicMs() >= untilMs) throw failed(found);
        await clock.sleep(pollMs);
      }
    },
    atEnd: (end) => void ends.push(end),
  };
  const end = async (): Promise<void> => {
    for (const each of ends.splice(0).toReversed()) await each();
  };
  return { context, end };
}
