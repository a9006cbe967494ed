import type { Clock } from "@millwright/base";
import type { Machine } from "@millwright/core/machine-api";
import type { ControlCaches } from "../cluster/caches.ts";
import type { RateRoom } from "../model/deletion-budget.ts";
import { createDeletionRate, type DeletionRate } from "./deletion-rates.ts";

/** The name of a machine's class. */
export const classNameOf = ({ spec }: Machine): string => spec.class?.name ?? "";

export type ClassRates = ReturnType<typeof trackClassRates>;

/** The rates of a namespace and of its classes, which follow the number of machines in a cache. */
export function trackClassRates(
  machines: ControlCaches["machines"],
  namespace: string,
  clock: Pick<Clock, "monotonicMs">,
) {
  const ofNamespace = createDeletionRate(clock);
  const byClass = new Map<string, DeletionRate>();
  const rateOf = (className: string): DeletionRate => {
    const rate = byClass.get(className) ?? createDeletionRate(clock);
    byClass.set(className, rate);
    return rate;
  };
  const resize = (machine: Machine, change: 1 | -1): void => {
    ofNamespace.resize(change);
    rateOf(classNameOf(machine)).resize(change);
  };
  machines.store.subscribe((old, current) => {
    if (old !== undefined && current !== undefined && classNameOf(old) === classNameOf(current)) return;
    if (old !== undefined) resize(old, -1);
    if (current !== undefined) resize(current, 1);
  });
  const roomOfClass = (name: string, rate: DeletionRate): RateRoom => ({
    ...rate.room(),
    scope: { kind: "MachineClass", name },
  });
  const roomOfAll = (): RateRoom => ({ ...ofNamespace.room(), scope: { kind: "Namespace", name: namespace } });
  return {
    /** The smaller of what the class and the namespace leave. */
    roomOf(className: string): RateRoom {
      const inClass = roomOfClass(className, rateOf(className));
      const inAll = roomOfAll();
      return inClass.count <= inAll.count ? inClass : inAll;
    },
    /** What each of them leaves: of the namespace, and of the classes with machines, or deletions within the hour. */
    rooms: (): readonly RateRoom[] => [
      roomOfAll(),
      ...[...byClass].filter(([, rate]) => rate.isInUse()).map(([name, rate]) => roomOfClass(name, rate)),
    ],
    use(className: string): void {
      ofNamespace.use();
      rateOf(className).use();
    },
    /** Undoes `use`. */
    giveBack(className: string): void {
      ofNamespace.giveBack();
      rateOf(className).giveBack();
    },
  };
}
