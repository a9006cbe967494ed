import { type Controller, watchTriggers } from "@millwright/kube";
import type { ControllerContext } from "../cluster/context.ts";
import { defaultMachineSettings } from "../machine/snapshot.ts";

/**
 * Wakes owners of machines when their surroundings change what their conditions say: a class comes or goes, or the API server of the nodes is
 * taken for unreachable, or answers again.
 *
 * @param keysOfClass keys of the objects whose template names a class
 * @param allKeys keys of all objects
 */
export function watchSurroundings(
  { caches, target, conditions }: Pick<ControllerContext, "caches" | "target" | "conditions">,
  controller: Pick<Controller, "enqueue">,
  keysOfClass: (name: string) => readonly string[],
  allKeys: () => readonly string[],
): void {
  if (conditions?.clusterApi === false) return;
  watchTriggers({
    store: caches.classes.store,
    controller,
    keys: ({ metadata }) => keysOfClass(metadata.name),
    when: (old, current) => old === undefined || current === undefined,
    priority: () => "routine",
  });
  const { contactLostAfterMs } = conditions?.settings ?? defaultMachineSettings;
  const wakeAll = (): void => {
    for (const key of allKeys()) controller.enqueue(key, "routine");
  };
  target?.caches.nodes.contact.onLost(contactLostAfterMs, wakeAll);
  target?.caches.nodes.contact.onRegained((lostForMs) => {
    if (lostForMs > contactLostAfterMs) wakeAll();
  });
}
