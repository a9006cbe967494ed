import type { Clock, Random } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { ignoreNotFound, isAlreadyExists, isConflict, isNotFound } from "../client/api-error.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import { leaseResource } from "../objects/built-in-resources.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { decideElection, observe } from "./decide.ts";
import type { Observation, Term } from "./decide.ts";
import { leaseSpec, readLease } from "./lease.ts";
import type { LeaseRecord } from "./lease.ts";
import { formatMicroTime } from "./micro-time.ts";
import { followerJitter } from "./settings.ts";
import type { ElectionSettings } from "./settings.ts";

/** Options of {@link createElector}. */
export interface ElectorOptions {
  readonly api: Pick<ApiClient, "get" | "create" | "replace">;
  readonly lease: ObjectRef & { readonly namespace: string };
  /** Must be of this process alone. */
  readonly identity: string;
  readonly settings: ElectionSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Told what happens, synchronously. */
  readonly report: ElectorReport;
  /** Asked before each renewal; a text is the reason to give the lease up. */
  readonly reasonToGiveUp?: (() => string | undefined) | undefined;
  readonly log?: Log | undefined;
}

/** What an elector tells. */
export interface ElectorReport {
  /** Leads until this moment of the monotonic clock, unless told of a later one. Nobody else leads before. */
  leading(untilMs: number): void;
  /** Who has the lease; "" for nobody. */
  holder(identity: string): void;
  /** Does not lead any more. */
  ended(because: string): void;
}

/** Takes part in an election. */
export interface Elector {
  /**
   * Tries to lead, and leads, until the term is lost or the signal aborts; in the latter case it gives the lease back so that the next
   * one need not wait. Resolves after `ended` was reported; to take part again, make another elector. Call once.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** An elector, on an API client of its own, so that its requests wait behind nobody's. */
export function createElector(options: ElectorOptions): Elector {
  const { api, lease, identity, settings, clock, random, report } = options;
  const log = options.log ?? noLog;
  let object: KubeObject | undefined;
  let observation: Observation | undefined;
  let term: Term | undefined;
  /** A term whose beginning was sent and not answered: the lease will tell. */
  let attempted: Term | undefined;
  /** Whether the lease is given back when the term ends by `reasonToGiveUp`; a lost one is left to run out. */
  let givesBack = false;

  const untilMs = (of: Term): number => of.confirmedMs + settings.renewDeadlineMs;

  /** No request may outlast the term, and none is worth more than half of the time that there is. */
  const timeoutMs = (): number => {
    const most = settings.renewDeadlineMs / 2;
    return term === undefined ? most : Math.max(1, Math.min(most, untilMs(term) - clock.monotonicMs()));
  };

  function see(seen: KubeObject | undefined): void {
    const record = seen === undefined ? undefined : readLease(seen);
    if (record?.holder !== observation?.record?.holder) report.holder(record?.holder ?? "");
    object = seen;
    observation = observe(observation, record, clock.monotonicMs());
    if (term !== undefined || attempted === undefined || record?.holder !== identity) return;
    // Seen too late it is as good as the lease of another, and waited for like one.
    if (record.acquireTime === attempted.acquireTime && clock.monotonicMs() < untilMs(attempted)) lead(attempted);
  }

  function lead(begun: Term): void {
    term = begun;
    attempted = undefined;
    report.leading(untilMs(begun));
  }

  async function read(signal: AbortSignal): Promise<void> {
    see(await ignoreNotFound(api.get(leaseResource, lease, { signal, timeoutMs: timeoutMs() })));
  }

  /** Writes what the lease is to say, only onto the state that was read. */
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
    log("info", "Leads from now on", { lease: lease.name, identity });
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

  /** One look, and at most one write. Answers why the term is over, if it is. */
  async function step(signal: AbortSignal): Promise<string | undefined> {
    const giveUp = term === undefined ? undefined : options.reasonToGiveUp?.();
    if (giveUp !== undefined) {
      givesBack = true;
      return giveUp;
    }
    // A leader knows the lease, mostly: nobody else writes it.
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
    // Somebody else was faster, or changed something: the lease says what it means.
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

  /** Why the term is over by time alone. */
  function expiry(): string | undefined {
    if (term === undefined || clock.monotonicMs() < untilMs(term)) return undefined;
    return `the lease could not be renewed for ${settings.renewDeadlineMs} ms`;
  }

  function pauseMs(): number {
    if (term === undefined) return settings.retryPeriodMs * (1 + random.next() * followerJitter);
    return Math.max(0, Math.min(settings.retryPeriodMs, untilMs(term) - clock.monotonicMs()));
  }

  /** Gives the lease back. Whoever waits sees at once that nobody has it. */
  async function release(): Promise<void> {
    const record = observation?.record;
    if (term === undefined || object === undefined || record?.holder !== identity) return;
    if (record.acquireTime !== term.acquireTime) return;
    const now = formatMicroTime(clock.now());
    term = undefined;
    try {
      await write({ ...record, holder: "", durationMs: 1_000, renewTime: now }, { timeoutMs: timeoutMs() });
      log("info", "Gave the lease back", { lease: lease.name, identity });
    } catch (error) {
      log("warn", "The lease could not be given back and runs out by itself", {
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
          log("warn", "Does not lead any more", { lease: lease.name, identity, because });
          if (givesBack) await release();
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
