import {
  type Clock,
  ConfigError,
  type Random,
  Secret,
  type SecretData,
  systemClock,
  systemRandom,
} from "@millwright/base";
import { type Driver, type MachineIdentity, readProviderSpec } from "@millwright/core";
import { formatProblems } from "@millwright/core/machine-api";
import { type FaultProxy, startFaultProxy } from "../proxy/fault-proxy.ts";
import { type Caller, type CallerHost, createCaller } from "./caller.ts";
import { type DriverScope, openDriverScope } from "./driver-scope.ts";
import type { ConformanceFixture, FixtureFactory, FixtureSetup, ProviderClass, SecretValues } from "./fixture.ts";
import { type Profile, type ProfileName, profiles } from "./profile.ts";
import { createRecorder } from "./recorder.ts";
import { createRunId } from "./run-id.ts";
import { createSecretScan } from "./secret-scan.ts";
import { createVmBudget } from "./vm-budget.ts";
import { createViolations, type Violations } from "./violations.ts";

/** What is checked, and how. */
export interface ConformanceOptions {
  /** The driver. May come from the fixture instead. */
  readonly driver?: Driver;
  /** A valid class of the driver. May come from the fixture instead. */
  readonly machineClass?: ProviderClass;
  /** Values of the class secret. May come from the fixture instead. */
  readonly secret?: SecretValues;
  /** What the suite cannot know of the cloud. */
  readonly fixture?: ConformanceFixture | FixtureFactory;
  /** Default `offline`. */
  readonly profile?: ProfileName;
  /** For how long a call may continue after its abort, milliseconds. Default 2000, which is the rule; more on a busy computer. */
  readonly graceMs?: number;
  /** Deadline of each call, milliseconds. Default: that of the profile. */
  readonly deadlineMs?: number;
  /** For how long the cloud may take until it shows a change, milliseconds. Default: that of the profile. */
  readonly settleMs?: number;
  /** VMs of the run that exist at once. Default: those of the profile, such as 5 in the sandbox. */
  readonly maxVms?: number;
  /** VMs that the whole run creates. Default: those of the profile, such as 200 in the sandbox. */
  readonly maxCreations?: number;
  /** Default: the system's. */
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A machine with a VM, and the caller that created it. */
export interface CreatedMachine {
  readonly machine: MachineIdentity;
  readonly caller: Caller;
}

/** One run: the driver, its cloud, and what was found so far. */
export interface Session {
  /** Calls of the driver with its class and its present secret. */
  caller: Caller;
  /** Why no further checks are made; undefined while they are. */
  stopped: string | undefined;
  readonly driver: Driver;
  readonly fixture: ConformanceFixture;
  readonly profile: Profile;
  readonly profileName: ProfileName;
  readonly clock: Clock;
  readonly random: Random;
  readonly namePrefix: string;
  readonly violations: Violations;
  readonly scope: DriverScope;
  /** User data of creations that name none; contains a canary. */
  readonly userData: Secret;
  /** Machines that may have a VM. */
  readonly created: Map<string, CreatedMachine>;
  /** Hosts that the driver connected to, one entry for each connection. */
  readonly connections: readonly string[];
  /** Hosts that it may connect to; undefined: any but link-local addresses. */
  readonly allowedHosts: Set<string> | undefined;
  /** Resources in the cloud at the start of the run, if the fixture shows them. */
  readonly resourcesBefore: readonly string[] | undefined;
  /** Wraps values, which are canaries from then on. */
  protect(values: SecretValues): SecretData;
  /** Keys of secrets whose values something contains. */
  findSecrets(value: unknown): readonly string[];
  /** The fault proxy; undefined where the fixture names no endpoint. */
  proxy(): Promise<FaultProxy | undefined>;
  /** Stops the proxy and closes the fixture. */
  close(): Promise<void>;
}

const required = <T>(value: T | undefined, what: string): T => {
  if (value === undefined)
    throw new ConfigError(`conformance: there is no ${what}; name it, or return it from the fixture`);
  return value;
};

/** The driver, the class and the secret: those of the caller, else those of the fixture. */
async function readSubject(options: ConformanceOptions, fixture: FixtureSetup) {
  const driver = required(options.driver ?? fixture.driver, "driver");
  const machineClass = required(options.machineClass ?? fixture.machineClass, "class");
  const secret = required(options.secret ?? fixture.secret, "secret");
  const read = await readProviderSpec(driver, machineClass);
  if (!read.ok) throw new ConfigError(`the driver rejects the class: ${formatProblems(read.problems)}`);
  return { driver, machineClass, secret };
}

/** Hosts that a fixture declares; undefined where it declares none. */
function declaredHosts({ endpoint, connectsTo }: ConformanceFixture): Set<string> | undefined {
  if (endpoint === undefined && connectsTo === undefined) return undefined;
  return new Set([...(endpoint === undefined ? [] : [hostOf(endpoint.url)]), ...(connectsTo ?? [])]);
}

/** The proxy of a run, which starts when the first check needs it. */
function createProxySlot({ endpoint }: ConformanceFixture, clock: Clock, onStart: (proxy: FaultProxy) => void) {
  let started: FaultProxy | undefined;
  return {
    async get(): Promise<FaultProxy | undefined> {
      if (started !== undefined || endpoint === undefined) return started;
      const { url, ca, proxyTls } = endpoint;
      started = await startFaultProxy({
        upstream: url,
        clock,
        ...(ca === undefined ? {} : { ca }),
        ...(proxyTls === undefined ? {} : { tls: proxyTls }),
      });
      onStart(started);
      return started;
    },
    close: async (): Promise<void> => started?.close(),
  };
}

/**
 * Starts a run.
 *
 * @throws ConfigError without driver, class or secret, or for a class that the driver rejects
 */
export async function openSession(options: ConformanceOptions): Promise<Session> {
  const { clock = systemClock, random = systemRandom, profile: profileName = "offline", graceMs = 2_000 } = options;
  const fixture: FixtureSetup =
    typeof options.fixture === "function" ? await options.fixture() : { ...options.fixture };
  const usual = profiles[profileName];
  const { deadlineMs = usual.deadlineMs, settleMs = usual.settleMs } = options;
  const { maxVms = usual.maxVms, maxCreations = usual.maxCreations } = options;
  const profile: Profile = { ...usual, deadlineMs, settleMs, maxVms, maxCreations };
  const budget = createVmBudget(profile);
  const violations = createViolations();
  const scan = createSecretScan(fixture.publicSecretKeys);
  const recorder = createRecorder(violations, scan);
  const connections: string[] = [];
  const allowedHosts = declaredHosts(fixture);
  const created = new Map<string, CreatedMachine>();
  const namePrefix = createRunId(clock, random).prefix;
  const userData = Secret.of(`#!/bin/sh\n# ${namePrefix}-user-data-${random.hex(12)}\n`);
  const protect = (values: SecretValues): SecretData => {
    const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Secret.of(value)]));
    scan.protect(data);
    return data;
  };
  try {
    const { driver, machineClass, secret: values } = await readSubject(options, fixture);
    scan.protect({ userData });
    const secret = protect({ userData: userData.reveal(), ...values });
    const scope = openDriverScope({
      onStrayError: (error) => violations.add("calls.no-stray-errors", `An error escaped: ${messageOf(error)}`),
      onConnect: (host) => void connections.push(host),
      onOutput: (text) => recorder.output("The output of the process", text),
    });
    const host: CallerHost = {
      clock,
      scope,
      recorder,
      violations,
      deadlineMs,
      graceMs,
      userData,
      onCreate(machine, caller) {
        budget.request(machine, new Set(created.keys()));
        created.set(machine.uid, { machine, caller });
      },
      onDelete: (machine) => void created.delete(machine.uid),
    };
    const proxies = createProxySlot(fixture, clock, (proxy) => allowedHosts?.add(hostOf(proxy.url)));
    return {
      caller: createCaller(host, { driver, machineClass, secret }),
      stopped: undefined,
      driver,
      fixture,
      profile,
      profileName,
      clock,
      random,
      namePrefix,
      violations,
      scope,
      userData,
      created,
      connections,
      allowedHosts,
      resourcesBefore: await fixture.resources?.(),
      protect,
      findSecrets: scan.find,
      proxy: proxies.get,
      async close() {
        scope.close();
        await proxies.close();
        await fixture.close?.();
      },
    };
  } catch (error) {
    await fixture.close?.();
    throw error;
  }
}

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");

const messageOf = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 200) : typeof error);
