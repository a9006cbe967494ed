import type { Clock, Random } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { isAlreadyExists, isConflict, isNamespaceTerminating, isNotFound } from "../client/api-error.ts";
import { messageOf, noLog } from "../log.ts";
import type { Log } from "../log.ts";
import type { ObjectRef } from "../objects/kube-object.ts";
import { decideCandidacy } from "./decide.ts";
import { createLeaseClaim } from "./lease-claim.ts";
import type { LeaseClaim } from "./lease-claim.ts";
import { followerJitter, followerPace, renewalPeriodMs } from "./settings.ts";
import type { ElectionSettings } from "./settings.ts";

/** Options of {@link createElector}. */
export interface ElectorOptions {
  readonly api: Pick<ApiClient, "get" | "create" | "replace">;
  /** All of them are needed to lead. Candidates for several leases must name them in the same order. */
  readonly leases: readonly (ObjectRef & { readonly namespace: string })[];
  /** Must be unique to this process. */
  readonly identity: string;
  readonly settings: ElectionSettings;
  readonly clock: Clock;
  readonly random: Random;
  /** Called synchronously. */
  readonly report: ElectorReport;
  /** Called before each renewal; a text is the reason to release the leases. */
  readonly unhealthyReason?: (() => string | undefined) | undefined;
  readonly log?: Log | undefined;
}

/** Callbacks of an elector. */
export interface ElectorReport {
  /** Leads until this time of the monotonic clock, unless called again with a later one. No other process leads before. */
  leading(untilMs: number): void;
  /** Another process that holds one of the leases, else the holder of the first; "" for none. */
  holder(identity: string): void;
  /** The server returned an older version of a lease than before: it went back to an earlier state. */
  rewound(found: string): void;
  /** No longer leads. */
  ended(because: string): void;
}

/** Takes part in an election. */
export interface Elector {
  /**
   * Waits for the leases, and leads, until one of them is lost or the signal aborts; in the latter case it releases them so that the next
   * leader need not wait. Resolves after `ended` was called, once the leases that are left were released or have expired; to take part
   * again, create another elector. Call once.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** What is wrong with the namespace of a lease, which nothing else reports. */
function namespaceProblem(error: unknown): { readonly message: string; readonly remedy: string } | undefined {
  // Lists of a namespace that does not exist are empty.
  if (isNotFound(error) && error.details?.kind === "namespaces")
    return {
      message: "The namespace of the lease does not exist",
      remedy: `Create it: "kubectl create namespace ${error.details.name ?? ""}".`,
    };
  if (!isNamespaceTerminating(error)) return undefined;
  return {
    message: "Cannot lead: the namespace is being deleted, and no lease can be created in it",
    remedy:
      "The last leader goes on. If it has ended, stop all processes of this namespace, and run one with --leader-elect=false until the namespace is deleted.",
  };
}

/**
 * Creates an elector. It needs its own API client, so that its requests never wait for others.
 *
 * All leases are observed from the start, and acquired only when all of them are free: a lease that others may want alone is never held
 * while another one is waited for. Candidates acquire in the same order, so the first lease decides between them. If a later lease
 * cannot be acquired after all, the earlier ones are released at once, and the next attempt waits longer each time.
 */
export function createElector(options: ElectorOptions): Elector {
  const { identity, settings, clock, random, report } = options;
  const log = options.log ?? noLog;
  const claims = options.leases.map((lease) =>
    createLeaseClaim({
      ...options,
      lease,
      log,
      onHolder: () => reportHolder(lease.name),
      onRewind: report.rewound,
    }),
  );
  let isLeading = false;
  /** Leases whose last renewal took long: they are renewed each retry period, so that more attempts remain while the server is slow. */
  const slow = new Set<LeaseClaim>();
  /** Whether the last pause took much longer than intended: the computer is busy, and the next one may, too. */
  let isLate = false;
  /** How often in a row some leases were acquired, and then not all. */
  let incomplete = 0;
  /** How long the leases of others are valid at least, when they were read last. */
  let followMs: number | undefined;
  /** Problems of the namespace that were logged. */
  const reported = new Set<string>();

  function reportHolder(lease: string): void {
    const holders = claims.map((claim) => claim.holder());
    const other = holders.find((holder) => holder !== "" && holder !== identity);
    if (other !== undefined) log("info", "Another process holds the lease", { lease, holder: other });
    report.holder(other ?? holders[0] ?? "");
  }

  /** When the first of the held leases expires; undefined while one is not held. */
  function leadsUntilMs(): number | undefined {
    let untilMs = Infinity;
    for (const claim of claims) {
      const held = claim.heldUntilMs();
      if (held === undefined) return undefined;
      untilMs = Math.min(untilMs, held);
    }
    return untilMs;
  }

  function reportTerm(): void {
    const untilMs = leadsUntilMs();
    if (untilMs === undefined) return;
    isLeading = true;
    report.leading(untilMs);
  }

  async function releaseAll(): Promise<void> {
    for (const claim of claims.toReversed()) await claim.release();
  }

  function logFailure({ name: lease }: LeaseClaim, error: unknown): void {
    const problem = namespaceProblem(error);
    if (problem === undefined || reported.has(problem.message))
      return log("debug", "A step of the leader election failed", { lease, error: messageOf(error) });
    const { message, remedy } = problem;
    reported.add(message);
    const [namespace] = options.leases.map((each) => each.namespace);
    log("warn", message, { namespace, lease, remedy });
  }

  /** Renews one lease of the leader if it is due. Returns why it is lost, if it is. */
  async function renew(claim: LeaseClaim, signal: AbortSignal): Promise<string | undefined> {
    if (!isDue(claim)) return undefined;
    try {
      // A leader need not read the lease: no other process writes it.
      const next = claim.decide();
      if (next?.kind === "lost") return next.because;
      const startMs = clock.monotonicMs();
      await claim.renew(signal);
      if (clock.monotonicMs() - startMs > settings.retryPeriodMs / 4) slow.add(claim);
      else slow.delete(claim);
      reportTerm();
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      logFailure(claim, error);
      // Otherwise another client has changed the lease: read it again.
      if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) return expiry(claim);
    }
    try {
      await claim.read(signal);
    } catch (error) {
      if (!signal.aborted) logFailure(claim, error);
      return expiry(claim);
    }
    const next = claim.decide();
    return next?.kind === "lost" ? next.because : undefined;
  }

  /** Why the lease has expired. */
  function expiry(claim: LeaseClaim): string | undefined {
    if (clock.monotonicMs() < (claim.heldUntilMs() ?? Infinity)) return undefined;
    return `the lease could not be renewed for ${settings.renewDeadlineMs} ms`;
  }

  /** Whether a lease of the leader was renewed long enough ago. The loop looks once per retry period, and may do so a little early. */
  function isDue(claim: LeaseClaim): boolean {
    if (isLate || slow.has(claim)) return true;
    const { renewDeadlineMs, retryPeriodMs } = settings;
    const renewedMs = (claim.heldUntilMs() ?? -Infinity) - renewDeadlineMs;
    return clock.monotonicMs() - renewedMs > renewalPeriodMs(settings) - retryPeriodMs / 2;
  }

  /** Renews the leases that are due. Returns why leadership is over, if it is. */
  async function lead(signal: AbortSignal): Promise<string | undefined> {
    const reasons = await Promise.all(claims.map((claim) => renew(claim, signal)));
    for (const [index, claim] of claims.entries()) {
      const because = reasons[index];
      if (because === undefined) continue;
      log("warn", "Lost the lease", { lease: claim.name, identity, because });
      claim.forget();
    }
    return reasons.find((because) => because !== undefined);
  }

  /** Reads all leases, and acquires them if all are free. */
  async function stand(signal: AbortSignal): Promise<void> {
    followMs = undefined;
    const reads = await Promise.allSettled(claims.map((claim) => claim.read(signal)));
    for (const [index, claim] of claims.entries()) {
      const read = reads[index];
      if (read?.status === "rejected" && !signal.aborted) logFailure(claim, read.reason);
      if (claim.decide()?.kind === "lost") claim.forget();
    }
    const steps = claims.map((claim) => claim.decide());
    const next = reads.every(({ status }) => status === "fulfilled") ? decideCandidacy(steps) : undefined;
    if (next?.kind === "acquire" && (await acquireAll(signal))) return;
    // What is held is not kept while another lease is waited for.
    await releaseAll();
    if (next?.kind === "follow") [incomplete, followMs] = [0, next.ms];
  }

  /** Whether this process holds all leases now. */
  async function acquireAll(signal: AbortSignal): Promise<boolean> {
    for (const claim of claims) {
      const next = claim.decide();
      try {
        if (next?.kind === "acquire") await claim.acquire(next.transitions, signal);
        else await claim.renew(signal);
      } catch (error) {
        if (!signal.aborted) logFailure(claim, error);
        if (claim !== claims[0]) incomplete++;
        return false;
      }
    }
    reportTerm();
    return isLeading;
  }

  function pauseMs(): number {
    const untilMs = leadsUntilMs();
    if (untilMs !== undefined) {
      const restMs = untilMs - clock.monotonicMs();
      // The less time is left, the sooner is the next attempt.
      const periodMs = restMs < 2 * settings.retryPeriodMs ? settings.retryPeriodMs / 4 : settings.retryPeriodMs;
      return Math.max(0, Math.min(periodMs, restMs));
    }
    const { retryPeriodMs, leaseDurationMs } = settings;
    const jitterMs = retryPeriodMs * random.next() * followerJitter;
    if (followMs !== undefined) return Math.min(retryPeriodMs * followerPace, followMs) + jitterMs;
    return Math.min(leaseDurationMs, retryPeriodMs * 2 ** incomplete) + jitterMs;
  }

  async function pause(signal: AbortSignal): Promise<void> {
    const ms = pauseMs();
    const untilMs = clock.monotonicMs() + ms;
    await clock.sleep(ms, signal).catch(() => {});
    isLate = clock.monotonicMs() - untilMs > settings.retryPeriodMs / 4;
  }

  /** After the end of leadership the leader may still be writing: what is held is kept until it has stopped. */
  async function untilStopped(signal: AbortSignal): Promise<void> {
    const held = claims.map((claim) => claim.heldUntilMs() ?? 0);
    const restMs = Math.max(...held) - clock.monotonicMs();
    if (restMs > 0) await clock.sleep(restMs, signal).catch(() => {});
  }

  return {
    async run(signal) {
      while (!signal.aborted) {
        const unhealthy = isLeading ? options.unhealthyReason?.() : undefined;
        let because = unhealthy;
        if (because === undefined && isLeading) because = await lead(signal);
        else if (because === undefined) await stand(signal);
        if (because !== undefined) {
          report.ended(because);
          if (unhealthy === undefined) await untilStopped(signal);
          else log("warn", "Ends leadership", { identity, because });
          await releaseAll();
          return;
        }
        await pause(signal);
      }
      report.ended("stopped");
      await releaseAll();
    },
  };
}
