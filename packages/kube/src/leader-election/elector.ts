import type { Clock, Random } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { ignoreNotFound, isAlreadyExists, isConflict, isNotFound } from "../client/api-error.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { leaseResource } from "../objects/built-in-resources.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { isNewer } from "../objects/resource-version.ts";
import { decideElection, observe } from "./decide.ts";
import type { Observation, Term } from "./decide.ts";
import { formatMicroTime, leaseSpec, readLease } from "./lease.ts";
import type { LeaseRecord } from "./lease.ts";
import { followerJitter } from "./settings.ts";
import type { ElectionSettings } from "./settings.ts";

/** Options of {@link createElector}. */
export interface ElectorOptions {
  readonly api: Pick<ApiClient, "get" | "create" | "replace">;
  readonly lease: ObjectRef & { readonly namespace: string };
  /** Must be unique to this process. */
  readonly identity: string;
  readonly settings: ElectionSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Called synchronously. */
  readonly report: ElectorReport;
  /** Called before each renewal; a text is the reason to release the lease. */
  readonly unhealthyReason?: (() => string | undefined) | undefined;
  readonly log?: Log | undefined;
}

/** Callbacks of an elector. */
export interface ElectorReport {
  /** Leads until this time of the monotonic clock, unless called again with a later one. No other process leads before. */
  leading(untilMs: number): void;
  /** The holder of the lease; "" for none. */
  holder(identity: string): void;
  /** The server returned an older version of the lease than before: it went back to an earlier state. */
  rewound(found: string): void;
  /** No longer leads. */
  ended(because: string): void;
}

/** Takes part in an election. */
export interface Elector {
  /**
   * Waits for the lease, and leads, until the term is lost or the signal aborts; in the latter case it releases the lease so that the next
   * leader need not wait. Resolves after `ended` was called; to take part again, create another elector. Call once.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Creates an elector. It needs its own API client, so that its requests never wait for others. */
export function createElector(options: ElectorOptions): Elector {
  const { api, lease, identity, settings, clock, random, report } = options;
  const log = options.log ?? noLog;
  let object: KubeObject | undefined;
  let observation: Observation | undefined;
  let term: Term | undefined;
  /** A term whose first write got no response: a read of the lease shows whether it succeeded. */
  let attempted: Term | undefined;
  /** Whether the lease is released when the term ends because of `unhealthyReason`; a lost one expires. */
  let releasesLease = false;

  const untilMs = (of: Term): number => of.confirmedMs + settings.renewDeadlineMs;

  /** No request may outlast the term, nor take more than half of the renew deadline. */
  const timeoutMs = (): number => {
    const most = settings.renewDeadlineMs / 2;
    return term === undefined ? most : Math.max(1, Math.min(most, untilMs(term) - clock.monotonicMs()));
  };

  function see(seen: KubeObject | undefined): void {
    const record = seen === undefined ? undefined : readLease(seen);
    if (record?.holder !== observation?.record?.holder) report.holder(record?.holder ?? "");
    compareVersions(object, seen);
    object = seen;
    observation = observe(observation, record, clock.monotonicMs());
    if (term !== undefined || attempted === undefined || record?.holder !== identity) return;
    // If it is seen too late, it is treated like the lease of another process.
    if (record.acquireTime === attempted.acquireTime && clock.monotonicMs() < untilMs(attempted)) lead(attempted);
  }

  function compareVersions(before: KubeObject | undefined, now: KubeObject | undefined): void {
    if (before === undefined || now === undefined || before.metadata.uid !== now.metadata.uid) return;
    const [known, found] = [before.metadata.resourceVersion, now.metadata.resourceVersion];
    if (isNewer(known, found)) report.rewound(`${lease.name} at version ${found} after version ${known}`);
  }

  function lead(begun: Term): void {
    term = begun;
    attempted = undefined;
    report.leading(untilMs(begun));
  }

  async function read(signal: AbortSignal): Promise<void> {
    see(await ignoreNotFound(api.get(leaseResource, lease, { signal, timeoutMs: timeoutMs() })));
  }

  /** Writes the lease, only onto the state that was read. */
  async function write(record: LeaseRecord, call: { signal?: AbortSignal; timeoutMs: number }): Promise<void> {
    const written: KubeObject =
      object === undefined
        ? { metadata: { ...lease }, spec: leaseSpec(record) }
        : { ...object, spec: { ...specOf(object), ...leaseSpec(record) } };
    const answer =
      object === undefined
        ? await api.create(leaseResource, written, call)
        : await api.replace(leaseResource, written, call);
    if (isApiObject(answer)) see(answer);
  }

  async function acquire(transitions: number, signal: AbortSignal): Promise<void> {
    const now = formatMicroTime(clock.now());
    const begun: Term = { acquireTime: now, confirmedMs: clock.monotonicMs() };
    attempted = begun;
    const durationMs = settings.leaseDurationMs;
    await write(
      { holder: identity, durationMs, acquireTime: now, renewTime: now, transitions },
      {
        signal,
        timeoutMs: timeoutMs(),
      },
    );
    log("info", "Acquired the lease", { lease: lease.name, identity });
  }

  async function renew(current: Term, signal: AbortSignal): Promise<void> {
    const sentMs = clock.monotonicMs();
    const record: LeaseRecord = {
      holder: identity,
      durationMs: settings.leaseDurationMs,
      acquireTime: current.acquireTime,
      renewTime: formatMicroTime(clock.now()),
      transitions: observation?.record?.transitions ?? 0,
    };
    await write(record, { signal, timeoutMs: timeoutMs() });
    lead({ ...current, confirmedMs: sentMs });
  }

  /** One read, and at most one write. Returns why the term is over, if it is. */
  async function step(signal: AbortSignal): Promise<string | undefined> {
    const unhealthy = term === undefined ? undefined : options.unhealthyReason?.();
    if (unhealthy !== undefined) {
      releasesLease = true;
      return unhealthy;
    }
    // A leader need not read the lease: no other process writes it.
    if (term === undefined || observation === undefined) await read(signal);
    if (observation === undefined) return undefined;
    const next = decideElection({ identity, term, observation, nowMs: clock.monotonicMs(), settings });
    switch (next.kind) {
      case "lost":
        return next.because;
      case "renew":
        if (term !== undefined) await renew(term, signal);
        return undefined;
      case "acquire":
        await acquire(next.transitions, signal);
        return undefined;
      case "follow":
        return undefined;
    }
  }

  async function attempt(signal: AbortSignal): Promise<string | undefined> {
    try {
      return await step(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      log("debug", "A step of the leader election failed", { lease: lease.name, error: messageOf(error) });
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) return expiry();
    }
    // Another client has changed the lease: read it again.
    try {
      await read(signal);
    } catch (error) {
      if (!signal.aborted) {
        log("debug", "A step of the leader election failed", { lease: lease.name, error: messageOf(error) });
      }
      return expiry();
    }
    const next =
      observation === undefined
        ? undefined
        : decideElection({ identity, term, observation, nowMs: clock.monotonicMs(), settings });
    return next?.kind === "lost" ? next.because : undefined;
  }

  /** Why the term has expired. */
  function expiry(): string | undefined {
    if (term === undefined || clock.monotonicMs() < untilMs(term)) return undefined;
    return `the lease could not be renewed for ${settings.renewDeadlineMs} ms`;
  }

  function pauseMs(): number {
    if (term === undefined) return settings.retryPeriodMs * (1 + random.next() * followerJitter);
    return Math.max(0, Math.min(settings.retryPeriodMs, untilMs(term) - clock.monotonicMs()));
  }

  /** Releases the lease, so that other candidates can acquire it at once. */
  async function release(): Promise<void> {
    const record = observation?.record;
    if (term === undefined || object === undefined || record?.holder !== identity) return;
    if (record.acquireTime !== term.acquireTime) return;
    const now = formatMicroTime(clock.now());
    term = undefined;
    try {
      await write({ ...record, holder: "", durationMs: 1_000, renewTime: now }, { timeoutMs: timeoutMs() });
      log("info", "Released the lease", { lease: lease.name, identity });
    } catch (error) {
      log("warn", "Failed to release the lease; it expires", {
        lease: lease.name,
        error: messageOf(error),
      });
    }
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const because = await attempt(signal);
        if (because !== undefined) {
          report.ended(because);
          log("warn", "Lost the lease", { lease: lease.name, identity, because });
          if (releasesLease) await release();
          return;
        }
        await clock.sleep(pauseMs(), signal).catch(() => {});
      }
      report.ended("stopped");
      await release();
    },
  };
}

function specOf(lease: KubeObject): object {
  const { spec } = lease;
  return typeof spec === "object" && spec !== null ? spec : {};
}
