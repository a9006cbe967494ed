import { namespaceResource } from "@millwright/kube";
import { otherNamespace, otherProcessName, type World } from "../world/world.ts";
import type { FaultKind } from "./fault.ts";

const MINUTE = 60_000;

/** Whether the namespace is still there. */
const isLeft = ({ server }: World): boolean => server.objects.get("namespaces.", "", otherNamespace) !== undefined;

/** Where the last leader has ended, people run a process without leader election, as its log has it: docs/permissions.md. */
function completeDeletion(world: World): void {
  const { outside, processes, transcript } = world;
  const process = processes.find(({ name }) => name.startsWith(otherProcessName));
  outside.clock.setTimer(10 * MINUTE, () => {
    if (!isLeft(world) || process === undefined) return;
    if (!process.isLeader()) {
      transcript.add("note", "people", `process ${process.name} runs without leader election`);
      process.leadAlone();
    }
    completeDeletion(world);
  });
}

/** What happens to namespaces. */
export const namespaceFaults = {
  "namespace-deleted": {
    maxMs: 0,
    async begin({ world }) {
      if (!isLeft(world)) return "no namespace to delete";
      world.requested.add(`namespace/${otherNamespace}`);
      const request = (): void =>
        void world.people
          .delete(namespaceResource, { name: otherNamespace })
          .catch(() => world.outside.clock.setTimer(10_000, request));
      request();
      completeDeletion(world);
      return `delete namespace ${otherNamespace}`;
    },
  },
} as const satisfies Readonly<Record<string, FaultKind>>;
