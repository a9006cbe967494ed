import {
  collectOrphans,
  type ControllerContext,
  createMissingVms,
  createVmCensus,
  createVmLists,
  createOrphanNodeController,
  createVmOwners,
  type Live,
  type MachineDriver,
  type MachineSettings,
  type MachineControllerOptions,
  type OrphanMode,
  type VmCensus,
  type VmListDriver,
  type VmListTimes,
} from "@millwright/controllers";
import type { Controller } from "@millwright/kube";

/** How VMs are followed. */
export interface FollowVmsOptions {
  /** When the VMs of classes are listed, and when a VM that lists lack is looked for. Default: `defaultVmListTimes`. */
  readonly vmLists?: Partial<VmListTimes>;
  /** What happens to VMs without machine; `off`: nothing. Default: `collect`. */
  readonly orphanVms?: OrphanMode | "off";
  /**
   * Whether VMs without the mark of a namespace, such as those of MCM, are of this one, so that one without Machine may be deleted. False where the process has several namespaces: it may have its Machine in another one. Default: true.
   */
  readonly ownsUnmarkedVms?: boolean;
}

/** The lists of VMs where VMs without the mark of a namespace are of none. */
const withoutUnmarked = <Lister extends VmListDriver>(driver: Lister): Lister => ({
  ...driver,
  async listVms(call, signal) {
    const outcome = await driver.listVms(call, signal);
    if (!outcome.ok) return outcome;
    return { ok: true, value: outcome.value.map((vm) => ({ machineNamespace: "", ...vm })) };
  },
});

/** Wires the lists of VMs with those who read them. */
export function followVms(
  context: ControllerContext,
  driver: MachineDriver & VmListDriver,
  settings: Live<MachineSettings>,
  { vmLists, orphanVms: mode = "collect", ownsUnmarkedVms = true }: FollowVmsOptions,
  onListFailed: (className: string, reason: string) => void,
): Required<Pick<MachineControllerOptions, "missingVms" | "vmOwners">> & {
  readonly controllers: readonly Controller[];
  readonly census: VmCensus;
  /** Resolves when no request of a drain is in flight. */
  close(): Promise<void>;
} {
  const lists = createVmLists(context, ownsUnmarkedVms ? driver : withoutUnmarked(driver), vmLists, onListFailed);
  const { controller, times } = lists;
  const missingVms = createMissingVms(context, driver, lists);
  const census = createVmCensus(context, lists, driver.listsVms);
  const vmOwners = createVmOwners(context, lists);
  const { target } = context;
  // The last reader: it may take minutes.
  const drains =
    mode === "off"
      ? undefined
      : collectOrphans(context, driver, lists, {
          mode,
          // May change while this runs.
          get minAgeMs() {
            return settings.current().creationTimeoutMs;
          },
          quarantineMs: times.periodMs,
          get drainTimeoutMs() {
            return settings.current().drainTimeoutMs;
          },
        });
  const nodes =
    drains === undefined || target === undefined
      ? undefined
      : createOrphanNodeController({ ...context, target }, { driver, settings, drains, collects: mode === "collect" });
  return {
    controllers: [controller, ...(nodes === undefined ? [] : [nodes.controller])],
    census,
    missingVms,
    vmOwners,
    close: async () => nodes?.close(),
  };
}
