import { isLive, type Vm } from "@millwright/provider-mock";
import type { CloudCall, CloudFate } from "../network/cloud-wire.ts";
import type { Choices } from "../world/streams.ts";
import { foreignVm, type World } from "../world/world.ts";
import type { FaultKind } from "./fault.ts";

const MINUTE = 60_000;

const ownVms = ({ cloud }: World): readonly Vm[] => cloud.vms().filter(({ name }) => name !== foreignVm);

/** A window in which calls have a fate with some probability. */
const calls = (maxMs: number, name: string, fateOf: (choices: Choices) => CloudFate): FaultKind => ({
  maxMs,
  begin({ world, choices }) {
    const share = choices.oneOf([0.1, 0.4, 1]);
    const operation = choices.oneOf(["createVm", "deleteVm", "listVms", "getVm", "tagVm", "all"] as const);
    const end = world.cloudWire.addFault({
      ofCall: (call) =>
        (operation === "all" || call.operation === operation) && choices.chance(share) ? fateOf(choices) : undefined,
    });
    return { what: `${name}: ${share * 100} % of the calls (${operation})`, end };
  },
});

const codes = [
  "ResourceExhausted",
  "Unavailable",
  "Internal",
  "DeadlineExceeded",
  "Aborted",
  "PermissionDenied",
  "Unauthenticated",
] as const;

/** Faults of the cloud, of VMs and of nodes. */
export const cloudFaults = {
  "cloud-errors": calls(10 * MINUTE, "the cloud fails", (choices) => ({
    kind: "fails",
    code: choices.oneOf(codes),
    accepted: false,
  })),
  "cloud-accepted": calls(10 * MINUTE, "the cloud fails after it accepted", (choices) => ({
    kind: "fails",
    code: choices.oneOf(["DeadlineExceeded", "Internal", "Unavailable"]),
    accepted: true,
  })),
  "creation-accepted": {
    maxMs: 10 * MINUTE,
    begin({ world, choices }) {
      const share = choices.oneOf([0.4, 0.8]);
      const ofCall = ({ operation }: CloudCall): CloudFate | undefined => {
        if (operation !== "createVm" || !choices.chance(share)) return undefined;
        const isLost = choices.chance(0.3);
        return isLost ? { kind: "lost", accepted: true } : { kind: "fails", code: "DeadlineExceeded", accepted: true };
      };
      const end = world.cloudWire.addFault({ ofCall });
      return { what: `${share * 100} % of the creations are accepted and not answered`, end };
    },
  },
  "cloud-lost": calls(10 * MINUTE, "no response of the cloud", (choices) => ({
    kind: "lost",
    accepted: choices.chance(0.5),
  })),
  "cloud-slow": calls(15 * MINUTE, "the cloud is slow", (choices) => ({
    kind: "slow",
    ms: choices.between(1_000, 4 * MINUTE),
  })),
  "cloud-list-lag": {
    maxMs: 20 * MINUTE,
    begin({ world, choices }) {
      const listLagMs = choices.between(2_000, 60_000);
      const end = world.cloudWire.addFault({ listLagMs });
      return { what: `lists of the cloud lack VMs younger than ${Math.round(listLagMs / 1000)} s`, end };
    },
  },
  "vm-dies": {
    maxMs: 0,
    async begin({ world, choices }) {
      const vm = choices.anyOf(ownVms(world).filter(isLive));
      if (vm === undefined) return "no VM to lose";
      const action = choices.oneOf(["kill", "reclaim", "stop"] as const);
      await world.cloud.powerVm(vm.id, action).catch(() => undefined);
      return `VM ${vm.id} of ${vm.name}: ${action}`;
    },
  },
  "node-flaps": {
    maxMs: 8 * MINUTE,
    begin({ world, choices, durationMs }) {
      const names = ownVms(world).filter(() => choices.chance(0.4));
      for (const { nodeName } of names) world.kubelets.makeUnready(nodeName, durationMs);
      return `not ready for ${Math.round(durationMs / 1000)} s: ${names.map(({ nodeName }) => nodeName).join(" ")}`;
    },
  },
  "kubelet-stops": {
    maxMs: 10 * MINUTE,
    begin({ world, choices, durationMs }) {
      const vm = choices.anyOf(ownVms(world));
      if (vm === undefined) return "no kubelet to stop";
      world.kubelets.silence(vm.nodeName, durationMs);
      // Its pods neither start nor end.
      const { remove } = world.server.clusterFaults.add({ kind: "kubelet-stops", nodes: [vm.nodeName] });
      return {
        what: `the kubelet of ${vm.nodeName} is silent for ${Math.round(durationMs / 1000)} s`,
        end: remove,
      };
    },
  },
  "never-joins": {
    maxMs: 5 * MINUTE,
    begin({ world, durationMs }) {
      world.kubelets.preventJoins(durationMs);
      return `VMs that boot within ${Math.round(durationMs / 1000)} s never join`;
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
