import type { Clock } from "@millwright/base";
import type { ApiClient } from "../client/api-client.ts";
import { ignoreNotFound, isConflict, isNamespaceTerminating } from "../client/api-error.ts";
import { messageOf } from "../log.ts";
import type { Log } from "../log.ts";
import { leaseResource } from "../objects/built-in-resources.ts";
import { isApiObject } from "../objects/kube-object.ts";
import type { KubeObject, ObjectRef } from "../objects/kube-object.ts";
import { isNewer } from "../objects/resource-version.ts";
import { decideElection, observe } from "./decide.ts";
import type { ElectorStep, Observation, Term } from "./decide.ts";
import { formatMicroTime, leaseSpec, readLease } from "./lease.ts";
import type { LeaseRecord } from "./lease.ts";
import type { ElectionSettings } from "./settings.ts";

/** Options of {@link createLeaseClaim}. */
export interface LeaseClaimOptions {
  readonly api: Pick<ApiClient, "get" | "create" | "replace">;
  readonly lease: ObjectRef & { readonly namespace: string };
  readonly identity: string;
  readonly settings: ElectionSettings;
  readonly clock: Clock;
  /** Called when a read or a write shows another holder than before. */
  readonly onHolder: () => void;
  /** Called when the server returns an older version of the lease than before. */
  readonly onRewind: (found: string) => void;
  readonly log: Log;
}

/** One Lease as one process sees and writes it. Each method sends one request at most, but for a release that meets a conflict, and for a renewal in a terminating namespace. */
export interface LeaseClaim {
  readonly name: string;
  /** The last observed holder; "" for none. */
  holder(): string;
  /** Until when this process holds the lease, by the monotonic clock; undefined: it does not hold it. */
  heldUntilMs(): number | undefined;
  /** What to do next; undefined: the lease was not read yet. */
  decide(): ElectorStep | undefined;
  read(signal: AbortSignal): Promise<void>;
  /** Acquires the lease in the state that was read last. */
  acquire(transitions: number, signal: AbortSignal): Promise<void>;
  renew(signal: AbortSignal): Promise<void>;
  /** Forgets the own term, without a write. */
  forget(): void;
  /** Gives a held lease back, so that other candidates can acquire it at once. A failure is logged: then the lease expires. */
  release(): Promise<void>;
}

/** Creates a {@link LeaseClaim}. Nothing is read yet. */
export function createLeaseClaim(options: LeaseClaimOptions): LeaseClaim {
  const { api, lease, identity, settings, clock, log } = options;
  let object: KubeObject | undefined;
  let observation: Observation | undefined;
  let term: Term | undefined;
  /** A term whose first write got no response: a read of the lease shows whether it succeeded. */
  let attempted: Term | undefined;
  let hasReportedEnd = false;

  const untilMs = (of: Term): number => of.confirmedMs + settings.renewDeadlineMs;

  /** No request may outlast the term, nor take more than half of the renew deadline. One that gets no response leaves time for another. */
  const timeoutMs = (): number => {
    const most = settings.renewDeadlineMs / 2;
    return term === undefined ? most : Math.max(1, Math.min(most, (untilMs(term) - clock.monotonicMs()) * 0.75));
  };

  function begin(begun: Term): void {
    term = begun;
    attempted = undefined;
  }

  function see(seen: KubeObject | undefined): void {
    const record = seen === undefined ? undefined : readLease(seen);
    const isOtherHolder = record?.holder !== observation?.record?.holder;
    compareVersions(object, seen);
    object = seen;
    observation = observe(observation, record, clock.monotonicMs());
    if (isOtherHolder) options.onHolder();
    if (term !== undefined || attempted === undefined || record?.holder !== identity) return;
    // If it is seen too late, it is treated like the lease of another process.
    if (record.acquireTime === attempted.acquireTime && clock.monotonicMs() < untilMs(attempted)) begin(attempted);
  }

  function compareVersions(before: KubeObject | undefined, now: KubeObject | undefined): void {
    if (before === undefined || now === undefined || before.metadata.uid !== now.metadata.uid) return;
    const [known, found] = [before.metadata.resourceVersion, now.metadata.resourceVersion];
    if (isNewer(known, found)) options.onRewind(`${lease.name} at version ${found} after version ${known}`);
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

  /**
   * Goes on without a lease where there can be none. The namespace controller deletes the leases of a terminating namespace, and no process can create them again: no other one can lead before the namespace is
   * deleted, and this one has to complete its deletions. Throws when the lease is there after all.
   */
  async function leadWithoutLease(refusal: unknown, signal: AbortSignal): Promise<void> {
    if (object !== undefined || !isNamespaceTerminating(refusal)) throw refusal;
    // The server checks the namespace before the name: another process may have created the lease just before.
    see(await ignoreNotFound(api.get(leaseResource, lease, { signal, timeoutMs: timeoutMs() })));
    if (object !== undefined) throw refusal;
    if (hasReportedEnd) return;
    hasReportedEnd = true;
    log("warn", "The namespace is being deleted, and its lease is: this process leads until the namespace is deleted", {
      lease: lease.name,
      identity,
    });
  }

  /** Whether the lease is held, as last seen, by the term, and not by another process of the same name. */
  const isOf = ({ acquireTime }: Term): boolean =>
    observation?.record?.holder === identity && observation.record.acquireTime === acquireTime;

  /** Writes that no process holds the lease that was seen last. */
  async function giveBack(): Promise<void> {
    const record = observation?.record;
    if (record === undefined) return;
    const renewTime = formatMicroTime(clock.now());
    await write({ ...record, holder: "", durationMs: 1_000, renewTime }, { timeoutMs: timeoutMs() });
  }

  return {
    name: lease.name,
    holder: () => observation?.record?.holder ?? "",
    heldUntilMs: () => (term === undefined ? undefined : untilMs(term)),
    decide: () =>
      observation === undefined
        ? undefined
        : decideElection({ identity, term, observation, nowMs: clock.monotonicMs(), settings }),
    async read(signal) {
      see(await ignoreNotFound(api.get(leaseResource, lease, { signal, timeoutMs: timeoutMs() })));
    },
    async acquire(transitions, signal) {
      const now = formatMicroTime(clock.now());
      attempted = { acquireTime: now, confirmedMs: clock.monotonicMs() };
      const { leaseDurationMs: durationMs } = settings;
      const record = { holder: identity, durationMs, acquireTime: now, renewTime: now, transitions };
      await write(record, { signal, timeoutMs: timeoutMs() });
      log("info", "Acquired the lease", { lease: lease.name, identity });
    },
    async renew(signal) {
      if (term === undefined) return;
      const { acquireTime } = term;
      const sentMs = clock.monotonicMs();
      const record: LeaseRecord = {
        holder: identity,
        durationMs: settings.leaseDurationMs,
        acquireTime,
        renewTime: formatMicroTime(clock.now()),
        transitions: observation?.record?.transitions ?? 0,
      };
      await write(record, { signal, timeoutMs: timeoutMs() }).catch((error: unknown) =>
        leadWithoutLease(error, signal),
      );
      begin({ acquireTime, confirmedMs: sentMs });
    },
    forget: () => (term = undefined),
    async release() {
      const held = term;
      if (held === undefined || object === undefined || !isOf(held)) return;
      term = undefined;
      try {
        await giveBack().catch(async (error: unknown) => {
          // A renewal that was cut off when the process had to stop may have been stored.
          if (!isConflict(error)) throw error;
          see(await ignoreNotFound(api.get(leaseResource, lease, { timeoutMs: timeoutMs() })));
          if (isOf(held)) await giveBack();
        });
        if (observation?.record?.holder === "") log("info", "Released the lease", { lease: lease.name, identity });
      } catch (error) {
        log("warn", "Failed to release the lease; it expires", { lease: lease.name, error: messageOf(error) });
      }
    },
  };
}

function specOf(lease: KubeObject): object {
  const { spec } = lease;
  return typeof spec === "object" && spec !== null ? spec : {};
}
