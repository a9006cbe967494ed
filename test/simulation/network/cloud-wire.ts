import type { Random } from "@millwright/base";
import {
  CloudError,
  type CloudErrorCode,
  type MockCloud,
  type SimulatedCloud,
  type Vm,
} from "@millwright/provider-mock";
import type { Scheduler, Scope } from "../world/scheduler.ts";

/** A call of a driver to the cloud. */
export interface CloudCall {
  readonly sender: string;
  readonly operation: "createVm" | "getVm" | "listVms" | "deleteVm" | "tagVm";
  /** The VM's name or id; empty for a list. */
  readonly subject: string;
}

/** The outcome of a call. */
export type CloudFate =
  | { readonly kind: "fails"; readonly code: CloudErrorCode; readonly accepted: boolean; readonly message?: string }
  /** No response ever comes. */
  | { readonly kind: "lost"; readonly accepted: boolean }
  | { readonly kind: "slow"; readonly ms: number };

/** A fault of the cloud that lasts until it is removed. */
export interface CloudFault {
  readonly ofCall?: (call: CloudCall) => CloudFate | undefined;
  /** Lists lack VMs that are younger than this. */
  readonly listLagMs?: number;
}

/** Connects processes with the cloud. */
export interface CloudWire {
  /** The cloud as a process sees it. */
  connect(owner: Scope): MockCloud;
  /** Returns what removes it. */
  addFault(fault: CloudFault): () => void;
}

/** What a wire is made of. */
export interface CloudWireOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly cloud: SimulatedCloud;
  /** Called right before the cloud carries a call out. */
  readonly onCall: (call: CloudCall) => void;
}

const slowestMs = 300;

/** Makes a {@link CloudWire}. */
export function createCloudWire({ scheduler, random, cloud, onCall }: CloudWireOptions): CloudWire {
  const wires = scheduler.scope("cloud-wire");
  const faults = new Set<CloudFault>();
  const latencyMs = (): number => 5 + Math.floor(random.next() * slowestMs);

  const fateOf = (call: CloudCall): CloudFate | undefined => {
    for (const { ofCall } of faults) {
      const fate = ofCall?.(call);
      if (fate !== undefined) return fate;
    }
    return undefined;
  };

  function run<T>(owner: Scope, call: CloudCall, act: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const answer = (settle: () => void): void => void owner.clock.setTimer(latencyMs(), settle);
    const fate = fateOf(call);
    const accepted = fate === undefined || fate.kind === "slow" || fate.accepted;
    const arrive = async (): Promise<void> => {
      let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
      if (accepted) {
        onCall(call);
        outcome = await act().then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
      }
      if (fate?.kind === "lost") return;
      if (fate?.kind === "fails") {
        const error = new CloudError(fate.code, fate.message ?? `simulated fault: ${fate.code}`);
        return answer(() => reject(error));
      }
      if (outcome === undefined) return;
      const known = outcome;
      answer(() => ("value" in known ? resolve(known.value) : reject(known.error)));
    };
    if (signal?.aborted === true) reject(signal.reason);
    else {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      wires.clock.setTimer(latencyMs() + (fate?.kind === "slow" ? fate.ms : 0), () => void arrive());
    }
    return promise;
  }

  const isListed = (vm: Vm): boolean => {
    const ageMs = wires.clock.now().getTime() - Date.parse(vm.createdAt);
    return [...faults].every(({ listLagMs = 0 }) => ageMs >= listLagMs);
  };

  return {
    connect(owner) {
      const sender = owner.name;
      return {
        ...cloud,
        createVm: (input, { signal } = {}) =>
          run(owner, { sender, operation: "createVm", subject: input.name }, () => cloud.createVm(input), signal),
        getVm: (ref, { signal } = {}) =>
          run(owner, { sender, operation: "getVm", subject: ref }, () => cloud.getVm(ref), signal),
        listVms: (filter, { signal } = {}) =>
          run(
            owner,
            { sender, operation: "listVms", subject: "" },
            async () => (await cloud.listVms(filter)).filter(isListed),
            signal,
          ),
        deleteVm: (ref, { signal } = {}) =>
          run(owner, { sender, operation: "deleteVm", subject: ref }, () => cloud.deleteVm(ref), signal),
        tagVm: (ref, tags, { signal } = {}) =>
          run(owner, { sender, operation: "tagVm", subject: ref }, () => cloud.tagVm(ref, tags), signal),
      };
    },
    addFault(fault) {
      faults.add(fault);
      return () => void faults.delete(fault);
    },
  };
}
